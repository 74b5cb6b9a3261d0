'use strict';
// One section is seen at a time; figures are drawn when they come into view, at a height that is known before.
(() => {
  const read = (id) => JSON.parse((document.getElementById(id) || { textContent: 'null' }).textContent);
  const figures = read('figures');
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const THEMES = {
    light: { ink: '#1d1f21', muted: '#64696e', line: '#e4e4df', paper: '#fdfdfb', black: '#000000' },
    dark: { ink: '#e8e6e1', muted: '#9da3a8', line: '#33373b', paper: '#212427', black: '#f2f2f2' },
  };
  const PAPER = 660, PAGE = 200, FALLBACK = 320, APART = 40;
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
    const visible = was[key(trace)] || was[`${trace.legendgroup}|mean`];  // as it was, or as its group is
    if (visible !== undefined) copy.visible = visible;
    return copy;
  }

  // what a figure shows now: one variant, the groups that are ticked, the roles that are pressed
  function tracesOf(spec) {
    const shown = spec.shown && new Set(spec.shown), off = spec.off || new Set();
    return (spec.data || spec.variants[spec.chosen]).filter(
      (trace) => !off.has(trace.meta) && !(shown && trace.legendgroup && trace.meta !== 'shade' && !shown.has(trace.legendgroup)),
    );
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
    for (const name of Object.keys(result)) if (/^[xy]axis/.test(name)) result[name] = { ...axis, ...result[name], title: { ...title, ...result[name].title } };
    if (width < 640) fewerTicks(result.xaxis, width);
    if (spec.variants) result.xaxis.title.text += ` (${spec.chosen})`;
    const entries = tracesOf(spec).filter((trace) => trace.showlegend !== false && trace.name);
    if (result.showlegend !== false && entries.length > 1) {
      const across = entries.reduce((sum, trace) => sum + 7.2 * trace.name.length + 62, 0);
      result.height += 21 * Math.max(0, Math.ceil(across / (width - 60)) - 1);
      result.showlegend = true;
    }
    return result;
  }

  // leaves out labels that would lie over each other on a narrow screen
  function fewerTicks(axis, width) {
    const { tickvals: values, ticktext: texts } = axis, at = (value) => (axis.type === 'log' ? Math.log10(value) : value);
    if (!values || values.length < 2) return;
    const gap = (APART * (at(values[values.length - 1]) - at(values[0]))) / width;
    const round = (value) => /^[125]0*$/.test(value), order = values.map((_, index) => index);
    order.sort((a, b) => round(values[b]) - round(values[a]) || b - a);  // round numbers stay if they can
    const kept = [];
    for (const index of order) if (kept.every((other) => Math.abs(at(values[other]) - at(values[index])) >= gap)) kept.push(index);
    kept.sort((a, b) => a - b);
    Object.assign(axis, { tickvals: kept.map((index) => values[index]), ticktext: texts && kept.map((index) => texts[index]), tickangle: 0 });
  }

  const canvasOf = (div) => div.querySelector('.canvas');
  const specOf = (div) => figures[div.dataset.figure];
  const folded = (div) => canvasOf(div).clientWidth === 0;  // in a closed list or another section
  const reserve = (div) => { if (!folded(div)) canvasOf(div).style.minHeight = `${layout(specOf(div), canvasOf(div).clientWidth).height}px`; };

  function draw(div) {
    const spec = specOf(div), canvas = canvasOf(div), was = {};
    if (canvas.data) for (const trace of canvas.data) was[key(trace)] = trace.visible;
    reserve(div);
    const width = canvas.clientWidth || FALLBACK;
    const data = tracesOf(spec).map((trace) => coloured(trace, was, width));
    const config = { responsive: true, displaylogo: false, displayModeBar: 'hover', modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'] };
    const first = !canvas.data;
    Plotly.react(canvas, data, layout(spec, width), config);
    if (first) canvas.on('plotly_click', (event) => {
      const { customdata, data } = event.points[0];
      const target = customdata || data.meta;  // of the point, or of its whole line
      if (typeof target === 'string' && document.getElementById(target)) location.hash = target;
    });
  }

  const plots = [...document.querySelectorAll('[data-figure]')];
  for (const div of plots) {
    const spec = specOf(div), choice = div.querySelector('select'), buttons = [...div.querySelectorAll('button[data-role]')];
    if (choice) choice.addEventListener('change', () => { spec.chosen = choice.value; draw(div); });
    spec.off = new Set(buttons.filter((button) => button.getAttribute('aria-pressed') !== 'true').map((button) => button.dataset.role));
    for (const button of buttons) button.addEventListener('click', () => {
      const off = spec.off.delete(button.dataset.role) ? false : Boolean(spec.off.add(button.dataset.role));
      button.setAttribute('aria-pressed', !off);
      draw(div);
    });
  }
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !folded(entry.target)) { watcher.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: '400px' });
  plots.forEach((div) => watcher.observe(div));
  const redraw = () => { for (const div of plots) if (canvasOf(div).data && !folded(div)) draw(div); };
  scheme.addEventListener('change', () => {
    for (const div of plots) if (canvasOf(div).data && folded(div)) { Plotly.purge(canvasOf(div)); watcher.observe(div); }
    redraw();
  });
  document.addEventListener('toggle', (event) => { for (const div of event.target.querySelectorAll('[data-figure]')) reserve(div); }, true);
  addEventListener('beforeprint', () => {
    printing = true;
    document.documentElement.classList.add('printing');
    plots.filter((div) => !folded(div)).forEach(draw);
  });
  addEventListener('afterprint', () => {
    printing = false;
    document.documentElement.classList.remove('printing');
    redraw();
  });

  // the section of a link, the configuration and the lists that hold it
  const sections = [...document.querySelectorAll('main > section')];
  function choose(article) {
    const box = article.parentElement;
    for (const other of box.querySelectorAll('article.config')) other.classList.toggle('active', other === article);
    box.querySelector('.chooser select').value = article.id;
    for (const figure of article.querySelectorAll('[data-traces]')) drawStrings(figure);
  }
  function show() {
    const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const target = found && found.closest('main > section') ? found : sections[0];
    const section = target.closest('main > section');
    const article = target.closest('article.config') || section.querySelector('article.config.active');
    for (const other of sections) other.classList.toggle('active', other === section);
    for (const link of document.querySelectorAll('nav a')) {
      const here = link.hash === `#${section.id}`;
      if (here) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
      if (here) link.parentElement.scrollLeft = link.offsetLeft - 40;
    }
    if (article) choose(article);
    for (let node = target; node; node = node.parentElement) if (node.tagName === 'DETAILS') node.open = true;
    for (const div of section.querySelectorAll('[data-figure]')) reserve(div);
    if (target === section) scrollTo(0, 0); else target.scrollIntoView({ block: target.tagName === 'TR' ? 'center' : 'start' });
  }
  addEventListener('hashchange', show);
  for (const select of document.querySelectorAll('.chooser select')) {
    select.addEventListener('change', () => { location.hash = select.value; });
  }

  // words that all have to occur in a text
  const words = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (text, sought) => sought.every((word) => text.toLowerCase().includes(word));

  for (const picker of document.querySelectorAll('.picker')) {
    const div = picker.closest('section').querySelector('[data-figure]'), spec = specOf(div);
    const input = picker.querySelector('input[type=search]'), others = picker.querySelector('[data-others]');
    const rows = [...picker.querySelectorAll('tbody tr')];
    const filter = () => {
      const sought = words(input), all = others && others.getAttribute('aria-pressed') === 'true';
      for (const row of rows) row.hidden = sought.length ? !holds(row.dataset.text, sought) : row.classList.contains('other') && !all;
    };
    input.addEventListener('input', filter);
    if (others) others.addEventListener('click', () => { others.setAttribute('aria-pressed', others.getAttribute('aria-pressed') !== 'true'); filter(); });
    for (const box of picker.querySelectorAll('input[type=checkbox]')) box.addEventListener('change', () => {
      entity.textContent = box.value;  // groups are named as HTML
      const name = entity.innerHTML.replaceAll('"', '&quot;').replaceAll("'", '&#x27;');
      spec.shown = box.checked ? [...spec.shown, name] : spec.shown.filter((other) => other !== name);
      draw(div);
    });
  }

  const heat = document.getElementById('heat');
  if (heat) {
    const measures = read('measures'), cells = [...heat.querySelectorAll('td.cell')];
    document.getElementById('heat-measure').addEventListener('change', (event) => {
      measures[event.target.value].forEach(([strength, text, small], index) => {
        cells[index].style.setProperty('--v', strength || 0);
        cells[index].querySelector('b').textContent = text;
        cells[index].querySelector('small').textContent = small;
      });
    });
    const filter = document.getElementById('heat-filter');
    filter.addEventListener('input', () => {
      const sought = words(filter), names = (selector) => [...heat.querySelectorAll(selector)];
      const rows = names('tbody th'), columns = names('thead th[data-name]');
      // each word narrows the tasks or the embeddings, whichever it occurs in
      const keep = (headers) => {
        const own = sought.filter((word) => headers.some((header) => holds(header.dataset.name, [word])));
        return headers.map((header) => !own.length || own.some((word) => holds(header.dataset.name, [word])));
      };
      const [tasks, positions] = [keep(rows), keep(columns)];
      rows.forEach((header, index) => { header.parentElement.hidden = !tasks[index]; });
      columns.forEach((header, index) => {
        for (const row of heat.rows) row.cells[index + 1].hidden = !positions[index];
      });
    });
  }

  const lines = read('lines'), table = document.getElementById('runs-table');
  if (table) {
    const input = document.getElementById('runs-filter'), more = document.getElementById('runs-more');
    const body = table.tBodies[0];
    let found = [], written = 0;
    const write = () => {
      for (const line of found.slice(written, written + PAGE)) {
        const row = body.insertRow();
        line.slice(0, 7).forEach((value, index) => {
          const cell = row.insertCell();
          if (index === 4 || index === 5) cell.className = 'number';
          if (index === 2) cell.className = 'differs';
          if (index === 1 && line[7]) {
            const link = document.createElement('a');
            link.href = `#${line[7]}`;
            link.textContent = value;
            cell.append(link);
          } else cell.textContent = value;
        });
      }
      written = Math.min(found.length, written + PAGE);
      more.hidden = written === found.length;
    };
    const filter = () => {
      const sought = words(input);
      found = sought.length ? lines.filter((line) => holds(line.slice(0, 7).join(' '), sought)) : lines;
      written = 0;
      body.replaceChildren();
      write();
      document.getElementById('runs-count').textContent = `${found.length} of ${lines.length}`;
    };
    input.addEventListener('input', filter);
    more.addEventListener('click', write);
    filter();
  }

  for (const box of document.querySelectorAll('[data-filter]')) {
    for (const button of box.querySelectorAll('button')) button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      for (const row of document.querySelectorAll(`#${box.dataset.filter} [data-verdict="${button.dataset.verdict}"]`)) row.hidden = !on;
    });
  }
  show();
})();
