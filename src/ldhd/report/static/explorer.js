'use strict';
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specs = read('models'), examples = read('examples');
  const weights = specs.map((spec) => Ldhd.decode(spec.weights));
  const CELL = 24, ROW = 18, FAINT = 0.02, LEFT = 64, MOST_CHANCES = 4, SLICE = 30, LONGEST = 4000, MOST_MORE = 12;
  const COLORS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9'], OTHER = '#7F7F7F';
  const [prompt, told, slider, play] = ['prompt', 'told', 'step', 'play'].map((id) => document.getElementById(id));
  const articles = [...document.querySelectorAll('.model')];
  let results = [], right = null, asked = 0, timer = null, shown = '';

  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };

  // why a text cannot be answered; empty if it can
  function problem(text) {
    const unknown = [...text].find((token) => !specs[0].alphabet.includes(token));
    if (unknown !== undefined) return `${unknown} is no token; the tokens are ${specs[0].alphabet}`;
    if (!text.startsWith('b') || !text.endsWith('=')) return 'a prompt goes from b to =';
    return text.length > LONGEST ? `a prompt may have ${LONGEST} tokens here` : '';
  }

  async function ask() {
    const own = asked += 1, text = prompt.value.trim();
    stop();
    told.textContent = problem(text);
    if (told.textContent) return;
    const example = examples.find((one) => one.prompt === text);
    right = example ? example.answer : null;
    results = specs.map(() => []);
    shown = text;
    const most = 2 * text.length + MOST_MORE;
    try {
      for (const [index, spec] of specs.entries()) {
        let until = performance.now() + SLICE;
        for (const step of Ldhd.answer(spec, weights[index], text, most)) {
          if (step) results[index].push(step);
          if (performance.now() > until) {
            told.textContent = `${spec.title}: ${results[index].length} tokens written`;
            await new Promise((resume) => { setTimeout(resume); });
            if (own !== asked) return;
            until = performance.now() + SLICE;
          }
        }
      }
    } catch (error) {
      told.textContent = error.message;
      return;
    }
    slider.max = Math.max(...results.map((steps) => steps.length)) - 1;
    slider.value = 0;
    told.textContent = '';
    show();
    start();
  }

  const output = (index) => results[index].map((step) => step.token).join('');
  function verdict() {
    const outputs = results.map((_, index) => output(index));
    const names = new Set(specs.map((spec) => spec.title)).size < specs.length ? ['the first', 'the second'] : specs.map((spec) => spec.title);
    if (right !== null) return names.map((name, index) => `${name} is ${outputs[index] === right ? 'right' : 'wrong'}`).join(', ');
    return outputs.length < 2 ? '' : outputs[0] === outputs[1] ? 'both write the same' : 'they differ';
  }

  function write(article, index, at) {
    const place = article.querySelector('.written'), quiet = document.createElement('span');
    quiet.className = 'quiet';
    quiet.textContent = shown;
    place.replaceChildren(quiet, ...results[index].map((step, k) => {
      const token = document.createElement('b');
      const expected = right !== null ? right[k] : results.length > 1 ? (results[1 - index][k] || {}).token : step.token;
      token.textContent = step.token;
      token.className = [k > at && 'later', k === at && 'here', expected !== step.token && 'wrong'].filter(Boolean).join(' ');
      token.addEventListener('click', () => { stop(); slider.value = k; show(); });
      return token;
    }));
    const here = place.querySelector('.here');
    if (here) place.scrollTop = here.offsetTop - place.offsetTop - 40;
  }

  // each layer and head of a step
  const headsOf = (step) => step.attention.flatMap((layer, number) => layer.map((head, h) => ({ ...head, h, name: step.attention.length > 1 ? `${number}.${h}` : `head ${h}` })));

  function draw(article, index, at) {
    const steps = results[index], k = Math.min(at, steps.length - 1), step = steps[k], heads = headsOf(step);
    const text = [...shown, ...steps.slice(0, k + 1).map((one) => one.token)], query = shown.length + k - 1;
    const select = article.querySelector('.head'), anchored = heads.filter((head) => head.anchors);
    if (select.options.length !== anchored.length) {
      select.replaceChildren(...anchored.map((head, number) => new Option(head.name, number)));
      select.parentElement.hidden = !anchored.length;
    }
    const chosen = anchored[+select.value];
    const at_ = chosen ? Array.from({ length: query + 1 }, (_, j) => chosen.anchors.strongest(chosen.h, j)) : [];
    const counts = new Map();
    for (const [anchor] of at_) counts.set(anchor, (counts.get(anchor) || 0) + 1);
    const order = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
    const color = (anchor) => COLORS[order.indexOf(anchor)] || OTHER;
    const reach = Math.max(1, ...at_.map(([anchor], j) => j - anchor));
    const high = at_.length ? Math.min(120, 20 + 7 * reach) : 6, top = high + CELL + (at_.length ? 24 : 8);
    const x = (i) => LEFT + CELL * i, width = x(text.length) + 60, height = top + ROW * heads.length + 6;
    const place = article.querySelector('.picture'), svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' })) svg.setAttribute(name, value);
    make('title', {}, svg, `${shown}: what each head attends to while answer token ${k} is written`);
    at_.forEach(([anchor, weight], j) => {
      if (anchor === j) return;
      const peak = high - Math.min(high - 6, 12 + ((high - 20) * (j - anchor)) / reach) - 6, [from, to] = [x(j) + CELL / 2, x(anchor) + CELL / 2];
      make('path', { d: `M${from},${high} C${from},${peak} ${to},${peak} ${to},${high}`, fill: 'none', stroke: color(anchor), 'stroke-width': 1.4, opacity: 0.25 + 0.75 * weight, class: 'arc' }, svg);
    });
    text.forEach((token, i) => {
      const box = { x: x(i) + 1, y: high, width: CELL - 2, height: CELL, rx: 3 };
      make('rect', { ...box, class: i < shown.length ? 'box token' : 'answer token' }, svg);
      if (counts.has(i)) make('rect', { ...box, fill: 'none', stroke: color(i), 'stroke-width': 2, class: 'anchor' }, svg);
      if (i === query + 1) make('rect', { ...box, class: 'here' }, svg);
      make('text', { x: x(i) + CELL / 2, y: high + 17, 'text-anchor': 'middle', 'font-size': 14 }, svg, token);
      if (i < at_.length) make('text', { x: x(i) + CELL / 2, y: high + CELL + 14, 'text-anchor': 'middle', 'font-size': 10, class: 'quiet' }, svg, i - at_[i][0]);
    });
    heads.forEach((head, row) => {
      const y = top + ROW * row;
      make('text', { x: LEFT - 8, y: y + 13, 'text-anchor': 'end', 'font-size': 11, class: 'quiet' }, svg, head.name);
      make('line', { x1: x(0), x2: x(query + 1), y1: y + ROW - 1, y2: y + ROW - 1, class: 'lane' }, svg);
      const cell = (i) => ({ x: x(i) + 2, y: y + 1, width: CELL - 4, height: ROW - 4, rx: 2 });
      for (const i of head.visible) make('rect', { ...cell(i), class: 'visible' }, svg);
      for (const [i, weight] of head.weights) {
        make('title', {}, make('rect', { ...cell(i), fill: '#0072B2', opacity: Math.min(1, weight), class: 'look' }, svg), `${head.name}: ${weight.toFixed(3)} on ${text[i]} at ${i}`);
      }
      if (head.nothing >= FAINT) {
        const end = { x: x(query + 1) + 6, y: y + 1, height: ROW - 4, rx: 2 };
        make('title', {}, make('rect', { ...end, width: 30 * head.nothing, fill: OTHER, class: 'nothing' }, svg), `${head.name}: ${head.nothing.toFixed(3)} on the null key`);
      }
    });
    place.replaceChildren(svg);
    const left = x(query + 1) - place.clientWidth + 3 * CELL;
    place.scrollLeft = Math.max(0, left);
    const best = step.chances.map((chance, token) => [chance, token]).sort((a, b) => b[0] - a[0]).slice(0, MOST_CHANCES);
    article.querySelector('.chances').replaceChildren(...best.flatMap(([chance, token]) => {
      const [name, bar, number] = ['span', 'i', 'span'].map((tag) => document.createElement(tag));
      name.textContent = specs[index].alphabet[token] || '_';
      bar.style.width = `${100 * chance}%`;
      number.textContent = chance > 0.9995 ? '1.000' : chance.toFixed(3);
      return [name, bar, number];
    }));
  }

  function show() {
    if (!results.length || results.some((steps) => !steps.length)) return;
    const at = +slider.value;
    articles.forEach((article, index) => { write(article, index, at); draw(article, index, at); });
    told.textContent = at >= +slider.max ? verdict() : `token ${at + 1} of ${+slider.max + 1}`;
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.setAttribute('aria-pressed', 'false');
    play.textContent = 'play';
  }
  function start() {
    if (+slider.value >= +slider.max) slider.value = 0;
    play.setAttribute('aria-pressed', 'true');
    play.textContent = 'pause';
    clearInterval(timer);
    timer = setInterval(() => {
      if (+slider.value >= +slider.max) { stop(); return; }
      slider.value = +slider.value + 1;
      show();
    }, Math.max(40, Math.min(450, 9000 / (+slider.max + 1))));
    show();
  }
  play.addEventListener('click', () => { if (timer) stop(); else if (results.length) start(); });
  slider.addEventListener('input', () => { stop(); show(); });
  document.getElementById('ask').addEventListener('submit', (event) => { event.preventDefault(); ask(); });
  document.getElementById('example').addEventListener('change', (event) => {
    if (event.target.value === '') return;
    prompt.value = examples[+event.target.value].prompt;
    event.target.value = '';
    ask();
  });
  for (const select of document.querySelectorAll('.head')) select.addEventListener('change', () => show());
  ask();
})();
