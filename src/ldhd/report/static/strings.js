'use strict';
// The string with its anchors above it, and below it, for each answer token, where the model looks.
(() => {
  const traces = JSON.parse(document.getElementById('traces').textContent);
  const COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9'];
  const CELL = 26, FAINT = 20;
  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };
  const largest = (row) => row.reduce((best, value, index) => (value > row[best] ? index : best), 0);

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

  // weights in thousandths of one view: of a head, or of the strongest of all heads
  function weights(trace, view, head, k) {
    const source = view === 'attention' ? trace.attention : trace.terms;
    const rows = head === 'all' ? source.flatMap((layer) => layer.map((rows) => rows[k])) : [source[+head.split('.')[0]][+head.split('.')[1]][k]];
    const end = trace.prompt + k;
    const shown = rows.map((row) => {
      const visible = row.slice(0, end);
      if (view === 'attention') return visible;
      const top = Math.max(...visible), powers = visible.map((value) => Math.exp((value - top) / 1000));
      const sum = powers.reduce((a, b) => a + b, 0);
      return powers.map((value) => (1000 * value) / sum);
    });
    return shown[0].map((_, index) => Math.max(...shown.map((row) => row[index])));
  }

  function picture(trace, chosen) {
    const text = [...trace.text], left = innerWidth < 640 ? 62 : 96, answers = text.length - trace.prompt;
    const anchor = trace.anchors.length ? trace.anchors[+chosen.anchor.split('.')[0]].weights[+chosen.anchor.split('.')[1]] : [];
    const at = anchor.map((row) => largest(row));
    const reach = Math.max(1, ...at.map((a, j) => j - a));
    const high = anchor.length ? Math.min(150, 20 + 7 * reach) : 6;
    const x = (index) => left + CELL * index, middle = (index) => x(index) + CELL / 2;
    const rowsTop = high + CELL + (anchor.length ? 58 : 40);
    const width = x(text.length) + 8, height = rowsTop + 22 * answers + 8;
    const svg = make('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
    make('title', {}, svg, `${trace.text}: anchors and attention`);
    const counts = new Map();
    at.forEach((a) => counts.set(a, (counts.get(a) || 0) + 1));
    const order = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
    const colour = (a) => COLOURS[order.indexOf(a)] || '#7F7F7F';
    at.forEach((a, j) => {
      if (a === j) return;
      const top = high - Math.min(high - 6, 12 + ((high - 20) * (j - a)) / reach);
      const path = `M${middle(j)},${high} C${middle(j)},${top - 6} ${middle(a)},${top - 6} ${middle(a)},${high}`;
      const arc = make('path', { d: path, fill: 'none', stroke: colour(a), 'stroke-width': 1.5, opacity: 0.25 + (0.75 * anchor[j][a]) / 1000, class: 'arc' }, svg);
      make('title', {}, arc, `${text[j]} at ${j} measures its distance from ${text[a]} at ${a} (weight ${(anchor[j][a] / 1000).toFixed(2)})`);
    });
    text.forEach((token, index) => {
      const box = { x: x(index) + 1, y: high, width: CELL - 2, height: CELL, rx: 3, class: index < trace.prompt ? 'box token' : 'answer token' };
      make('rect', box, svg);
      if (counts.has(index)) make('rect', { ...box, fill: 'none', stroke: colour(index), 'stroke-width': 2.2, class: 'anchor' }, svg);
      make('text', { x: middle(index), y: high + 18, 'text-anchor': 'middle', 'font-size': 15 }, svg, token);
      if (index < at.length) {
        make('rect', { x: x(index) + 1, y: high + CELL + 2, width: CELL - 2, height: 4, rx: 1, fill: colour(at[index]), opacity: 0.25 + (0.75 * anchor[index][at[index]]) / 1000 }, svg);
        make('text', { x: middle(index), y: high + CELL + 19, 'text-anchor': 'middle', 'font-size': 11 }, svg, index - at[index]);
      }
    });
    if (anchor.length) make('text', { x: left - 8, y: high + CELL + 19, 'text-anchor': 'end', 'font-size': 11, class: 'quiet' }, svg, 'distance');
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
      const row = weights(trace, chosen.view, chosen.head, k);
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

  for (const box of document.querySelectorAll('[data-traces]')) {
    const own = box.dataset.traces.split(' ').map((key) => traces[key]);
    const [run, anchor, view, head] = ['run', 'anchor', 'view', 'head'].map((name) => box.querySelector(`select[name=${name}]`));
    const place = box.querySelector('.picture'), caption = box.querySelector('.said');
    fill(run, own.map((trace, index) => [String(index), trace.label]));
    function offer() {
      const trace = own[+run.value];
      const several = trace.anchors.length > 1;
      fill(anchor, trace.anchors.flatMap((a, n) => a.weights.map((_, h) => [`${n}.${h}`, `anchor${several ? ` of ${a.term}, layer ${a.layer}` : ''}${a.weights.length > 1 ? `, head ${h}` : ''}`])));
      fill(view, [['attention', 'attention'], ...(trace.terms.length ? [['terms', 'position term alone']] : [])]);
      fill(head, [['all', 'strongest of all heads'], ...trace.attention.flatMap((layer, l) => layer.map((_, h) => [`${l}.${h}`, `layer ${l}, head ${h}`]))]);
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
  }
})();
