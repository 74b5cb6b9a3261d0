"""Figures as data: one function for each figure turns runs into panels of marks, and the renderers draw them."""
