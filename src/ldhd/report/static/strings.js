'use strict';
// The string with its anchors above it, and below it, for each answer token, where the model looks.
const drawStrings = (() => {
  const traces = JSON.parse(document.getElementById('traces').textContent);
  const CELL = 26, FAINT = 20;
  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };

  function option(select, value, text) {
    const node = document.createElement('option');
    node.value = value; node.textContent = text; select.appendChild(node);
  }
  function fill(select, pairs) {
    const was = select.value;
    select.replaceChildren();
    for (const [value, text] of pairs) option(select, value, text);
    if (pairs.some(([value]) => value === was)) select.value = was;
    select.hidden = pairs.length < 2;
  }

  function picture(trace, chosen) {
    const text = [...trace.text], left = innerWidth < 640 ? 62 : 96, answers = text.length - trace.prompt;
    const { at, weights, colors } = trace.anchors[+chosen.anchor] || { at: [], weights: [], colors: {} };
    const reach = Math.max(1, ...at.map((a, j) => j - a));
    const high = at.length ? Math.min(150, 20 + 7 * reach) : 6;
    const x = (index) => left + CELL * index, middle = (index) => x(index) + CELL / 2;
    const rowsTop = high + CELL + (at.length ? 58 : 40);
    const width = x(text.length) + 8, height = rowsTop + 22 * answers + 8;
    const svg = make('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
    make('title', {}, svg, `${trace.text}: anchors and attention`);
    at.forEach((a, j) => {
      if (a === j) return;
      const top = high - Math.min(high - 6, 12 + ((high - 20) * (j - a)) / reach);
      const path = `M${middle(j)},${high} C${middle(j)},${top - 6} ${middle(a)},${top - 6} ${middle(a)},${high}`;
      const arc = make('path', { d: path, fill: 'none', stroke: colors[a], 'stroke-width': 1.5, opacity: 0.25 + (0.75 * weights[j]) / 1000, class: 'arc' }, svg);
      make('title', {}, arc, `${text[j]} at ${j} measures its distance from ${text[a]} at ${a} (weight ${(weights[j] / 1000).toFixed(2)})`);
    });
    text.forEach((token, index) => {
      const box = { x: x(index) + 1, y: high, width: CELL - 2, height: CELL, rx: 3, class: index < trace.prompt ? 'box token' : 'answer token' };
      make('rect', box, svg);
      if (index in colors) make('rect', { ...box, fill: 'none', stroke: colors[index], 'stroke-width': 2.2, class: 'anchor' }, svg);
      make('text', { x: middle(index), y: high + 18, 'text-anchor': 'middle', 'font-size': 15 }, svg, token);
      if (index < at.length) {
        make('rect', { x: x(index) + 1, y: high + CELL + 2, width: CELL - 2, height: 4, rx: 1, fill: colors[at[index]], opacity: 0.25 + (0.75 * weights[index]) / 1000 }, svg);
        make('text', { x: middle(index), y: high + CELL + 19, 'text-anchor': 'middle', 'font-size': 11 }, svg, index - at[index]);
      }
    });
    if (at.length) make('text', { x: left - 8, y: high + CELL + 19, 'text-anchor': 'end', 'font-size': 11, class: 'quiet' }, svg, 'distance');
    make('text', { x: left - 8, y: rowsTop - 9, 'text-anchor': 'end', 'font-size': 11, class: 'quiet' }, svg, 'writes');
    for (let k = 0; k < answers; k += 1) {
      const y = rowsTop + 22 * k, right = text[trace.prompt + k], written = trace.output[k] || '·';
      const label = make('text', { x: left - 8, y: y + 15, 'text-anchor': 'end', 'font-size': 13 }, svg);
      if (written === right) label.textContent = `${k}: ${right}`;
      else {
        label.textContent = `${k}: ${right} `;
        make('tspan', { class: 'wrong' }, label, `✗${written}`);
      }
      make('line', { x1: x(0), x2: x(trace.prompt + k), y1: y + 20.5, y2: y + 20.5, class: 'lane' }, svg);
      const row = trace.views[chosen.view][chosen.head][k];
      row.forEach((value, index) => {
        if (value < FAINT) return;
        const cell = make('rect', { x: x(index) + 2, y: y + 1, width: CELL - 4, height: 18, rx: 2, fill: '#0072B2', opacity: Math.min(1, value / 1000), class: 'look' }, svg);
        make('title', {}, cell, `writing ${right}: ${(value / 1000).toFixed(2)} on ${text[index]} at ${index}`);
      });
      for (const [slot, index] of Object.entries(trace.needs[k])) {
        if (index === null) continue;
        const mark = make('rect', { x: x(index) + 2, y: y + 1, width: CELL - 4, height: 18, rx: 2, class: 'needed', 'pointer-events': 'all' }, svg);
        make('title', {}, mark, `writing ${right} needs ${slot}: ${text[index]} at ${index}, weight ${((row[index] || 0) / 1000).toFixed(2)}`);
      }
    }
    return svg;
  }

  // when the picture is first seen
  return (box) => {
    if (box.dataset.drawn) return;
    box.dataset.drawn = 'true';
    const own = box.dataset.traces.split(' ').map((key) => traces[key]);
    const [run, anchor, view, head] = ['run', 'anchor', 'view', 'head'].map((name) => box.querySelector(`select[name=${name}]`));
    const place = box.querySelector('.picture'), caption = box.querySelector('.said');
    fill(run, own.map((trace, index) => [String(index), trace.label]));
    function offer() {
      const trace = own[+run.value];
      fill(anchor, trace.anchors.map((one, index) => [String(index), one.name]));
      fill(view, Object.keys(trace.views).map((name) => [name, name === 'terms' ? 'position term alone' : name]));
      fill(head, Object.keys(trace.views.attention).map((name) => [name, name === 'all' ? 'strongest of all heads' : `layer ${name.replace('.', ', head ')}`]));
      show();
    }
    function show() {
      const trace = own[+run.value];
      place.replaceChildren(picture(trace, { anchor: anchor.value, view: view.value, head: head.value }));
      const said = trace.first_error === null ? 'The output is right.' : `First error at answer token ${trace.first_error}.`;
      caption.textContent = run.hidden ? `${trace.label}. ${said}` : said;
    }
    run.addEventListener('change', offer);
    for (const select of [anchor, view, head]) select.addEventListener('change', show);
    offer();
  };
})();
