'use strict';
(() => {
  const figures = JSON.parse(document.getElementById('figures').textContent);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const THEMES = {
    light: { ink: '#1d1f21', muted: '#64696e', line: '#e4e4df', paper: '#fdfdfb', black: '#000000' },
    dark: { ink: '#e8e6e1', muted: '#9da3a8', line: '#33373b', paper: '#212427', black: '#f2f2f2' },
  };
  const PAPER = 660;
  let printing = false;
  const theme = () => THEMES[scheme.matches && !printing ? 'dark' : 'light'];

  // black lines would vanish on a dark page
  const seen = (colour) => (colour === '#000000' ? theme().black : colour);
  const key = (trace) => `${trace.legendgroup || trace.name}|${trace.meta}`;
  const entity = document.createElement('textarea');
  function shortened(name, width) {
    entity.innerHTML = name;  // a textarea holds text only
    const text = entity.value, most = Math.floor((width - 110) / 7.5);
    if (text.length <= most) return name;
    entity.textContent = `${text.slice(0, most - 1)}…`;
    return entity.innerHTML;
  }
  function coloured(trace, was, width) {
    const copy = { ...trace };
    if (copy.name) copy.name = shortened(copy.name, width);
    if (copy.line) copy.line = { ...copy.line, color: seen(copy.line.color) };
    if (copy.marker) copy.marker = { ...copy.marker, color: seen(copy.marker.color) };
    if (was[key(trace)] !== undefined) copy.visible = was[key(trace)];
    return copy;
  }

  function layout(spec, width) {
    const t = theme();
    const axis = { gridcolor: t.line, linecolor: t.muted, zeroline: false, tickcolor: t.line, automargin: true, fixedrange: width < 640 };
    const title = { font: { size: 13, color: t.muted }, standoff: 8 };
    const result = {
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', autosize: true,
      font: { family: 'system-ui, sans-serif', size: 13, color: t.ink },
      hoverlabel: { namelength: -1, bgcolor: t.paper, bordercolor: t.line, font: { color: t.ink } },
      legend: { orientation: 'h', x: 0, y: -0.2, yanchor: 'top', font: { color: t.ink } },
      ...spec.layout,
      margin: { l: 56, r: 12, t: 12, b: 44, ...(spec.layout.margin || {}) },
    };
    if (printing) Object.assign(result, { autosize: false, width: Math.min(width, PAPER) });  // a window may be wider than paper
    for (const key of Object.keys(result)) if (/^[xy]axis/.test(key)) result[key] = { ...axis, ...result[key], title: { ...title, ...result[key].title } };
    if (spec.variants) result.xaxis.title.text += ` (${spec.chosen})`;
    const traces = spec.data || spec.variants[spec.chosen];
    const entries = traces.filter((trace) => trace.showlegend !== false);
    if (result.showlegend !== false && entries.length > 1) {
      const across = entries.reduce((sum, trace) => sum + 7.2 * trace.name.length + 62, 0);
      result.height += 21 * Math.max(0, Math.ceil(across / (width - 60)) - 1);
      result.showlegend = true;
    }
    return result;
  }

  function draw(div, keep) {
    const spec = figures[div.dataset.figure];
    const canvas = div.querySelector('.canvas');
    const was = {};
    if (keep && canvas.data) for (const trace of canvas.data) was[key(trace)] = trace.visible;
    const data = (spec.data || spec.variants[spec.chosen]).map((trace) => coloured(trace, was, canvas.clientWidth));
    const config = { responsive: true, displaylogo: false, displayModeBar: 'hover', modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'] };
    const first = !canvas.data;
    Plotly.react(canvas, data, layout(spec, canvas.clientWidth), config);
    if (first) canvas.on('plotly_click', (event) => {
      const { customdata, data } = event.points[0];
      const target = customdata || data.meta;  // of the point, or of its whole line
      if (typeof target === 'string' && document.getElementById(target)) location.hash = target;
    });
  }

  const plots = [...document.querySelectorAll('[data-figure]')];
  for (const div of plots) {
    const spec = figures[div.dataset.figure];
    const canvas = div.querySelector('.canvas');
    canvas.style.minHeight = `${layout(spec, canvas.clientWidth || PAPER).height}px`;  // drawing it later moves nothing below
    const choice = div.querySelector('select');
    if (choice) choice.addEventListener('change', () => { spec.chosen = choice.value; draw(div, true); });
    for (const button of div.querySelectorAll('button[data-role]')) button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      const shown = new Set(canvas.data.filter((trace) => trace.meta === 'mean' && trace.visible !== 'legendonly').map((trace) => trace.legendgroup));
      const chosen = canvas.data.map((trace, index) => [trace, index]).filter(([trace]) => trace.meta === button.dataset.role);
      Plotly.restyle(canvas, { visible: chosen.map(([trace]) => (on ? (shown.has(trace.legendgroup) ? true : 'legendonly') : false)) }, chosen.map(([, index]) => index));
    });
  }
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { watcher.unobserve(entry.target); draw(entry.target, true); }
  }, { rootMargin: '600px' });
  plots.forEach((div) => watcher.observe(div));
  const folded = (div) => div.querySelector('.canvas').clientWidth === 0;  // in a closed list: to be drawn when it opens
  const redraw = () => {
    for (const div of plots) {
      if (folded(div)) watcher.observe(div);
      else if (div.querySelector('.canvas').data) draw(div, true);
    }
  };
  scheme.addEventListener('change', redraw);
  addEventListener('beforeprint', () => { printing = true; plots.filter((div) => !folded(div)).forEach((div) => draw(div, true)); });
  addEventListener('afterprint', () => { printing = false; redraw(); });

  // a link to a run opens the list that holds it
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === 'DETAILS') node.open = true;
    target.scrollIntoView({ block: target.tagName === 'SECTION' ? 'start' : 'center' });
  }
  addEventListener('hashchange', reveal);
  reveal();

  for (const box of document.querySelectorAll('[data-filter]')) {
    for (const button of box.querySelectorAll('button')) button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      for (const row of document.querySelectorAll(`#${box.dataset.filter} [data-verdict="${button.dataset.verdict}"]`)) row.hidden = !on;
    });
  }
})();
