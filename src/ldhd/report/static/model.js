'use strict';
// The forward pass of a trained model, a token at a time: what src/ldhd/model and src/ldhd/positions compute in a test.
// Letters as there: D dimension, H heads, d dimension of a head, j the position of a query, i that of a key.
const Ldhd = (() => {
  const EPSILON = 1e-5, TIE_BREAK = 1e-5, BEYOND = 20;
  const FAINT = 0.02;  // weights below it are not kept

  const dot = (a, from, b, start, size) => {
    let sum = 0;
    for (let m = 0; m < size; m += 1) sum += a[from + m] * b[start + m];
    return sum;
  };
  function linear(x, weight, bias) {
    const size = weight.shape[1], rows = weight.shape[0], y = new Float64Array(rows);
    for (let row = 0; row < rows; row += 1) y[row] = dot(weight.data, row * size, x, 0, size) + (bias ? bias.data[row] : 0);
    return y;
  }
  function norm(x, weight, bias) {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    return x.map((value, m) => ((value - mean) / Math.sqrt(variance + EPSILON)) * weight.data[m] + bias.data[m]);
  }
  const LINEAR = 2 * Math.sqrt(2 / Math.PI), CUBIC = 0.044715 * LINEAR;
  const gelu = (x) => x / (1 + Math.exp(-x * (LINEAR + CUBIC * x * x)));
  const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  function softmax(values) {
    const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = values.map((value) => Math.exp(value - most));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  }

  // Anchors of one layer: for each head and position, either the distance to a hard anchor or the row S[j, l], l <= j.
  class Anchors {
    constructor(spec, get, heads, size) {
      Object.assign(this, { kind: spec.projections, scale: spec.anchor_scale, hard: Boolean(spec.hard), fixed: spec.first_token_heads || 0, heads, size });
      [this.key, this.query] = [get('anchor.key.weight'), get('anchor.query.weight')];
      this.scores = Array.from({ length: heads }, () => []);
      this.risen = new Float64Array(heads);  // of recent anchors, the sum of softplus over earlier scores
      this.kept = [];  // of pair-scored anchors, the keys
      this.rows = Array.from({ length: heads }, () => []);
      this.distances = Array.from({ length: heads }, () => []);
    }
    // q is that of the attention before its division by sqrt(d), k its key, hidden the normed state
    add(hidden, q, k) {
      const { heads, size, kind } = this;
      if (kind === 'separate' || kind === 'shared') {
        const [query, key] = kind === 'separate' ? [linear(hidden, this.query), linear(hidden, this.key)] : [q, k];
        this.kept.push(key);
        for (let h = 0; h < heads; h += 1) this.close(h, this.kept.map((other) => this.scale * dot(query, h * size, other, h * size, size)));
        return;
      }
      const own = linear(hidden, this.key);
      for (let h = 0; h < heads; h += 1) {
        const score = h >= heads - this.fixed ? -30 : this.scale * own[h];
        if (kind === 'key') { this.scores[h].push(score); this.close(h, this.scores[h]); } else this.recent(h, score);
      }
    }
    // the last token up to j that is an anchor
    recent(h, score) {
      const scores = this.scores[h], j = this.hard ? this.distances[h].length : scores.length;
      if (this.hard) {
        this.distances[h].push(j === 0 || score > 0 ? 0 : this.distances[h][j - 1] + 1);
        return;
      }
      const value = j === 0 ? 0 : score;
      scores.push(value + this.risen[h]);
      if (j > 0) this.risen[h] += softplus(value);
      this.rows[h].push(softmax(scores));
    }
    close(h, scores) {
      if (!this.hard) { this.rows[h].push(softmax(scores)); return; }
      let best = 0;
      scores.forEach((score, l) => { if (score + TIE_BREAK * l > scores[best] + TIE_BREAK * best) best = l; });
      this.distances[h].push(scores.length - 1 - best);
    }
    // [token, weight] of the strongest anchor of a position
    strongest(h, j) {
      if (this.hard) return [j - this.distances[h][j], 1];
      const row = this.rows[h][j], best = row.reduce((a, value, l) => (value > row[a] ? l : a), 0);
      return [best, row[best]];
    }
  }

  // What each embedding does: `embed` adds to the token embedding, `rotate` turns q and k, `add` reads a new token, and
  // `bias` returns what is added to the logits of query j in head h, as a function of the key i.
  const POSITIONS = {
    none: () => ({}),
    absolute: (options, get) => ({
      embed(x, token, j) {
        const table = get('table');
        if (j >= table.shape[0]) throw new Error(`position ${j} is beyond the table of ${table.shape[0]}`);
        for (let m = 0; m < x.length; m += 1) x[m] += table.data[j * x.length + m];
      },
    }),
    abacus: (options, get) => {
      let run = 0;
      return {
        embed(x, token) {
          const table = get('table');
          run = token < options.digit_tokens ? run + 1 : 0;
          if (run >= table.shape[0]) throw new Error(`digit ${run} of a number is beyond the table of ${table.shape[0] - 1}`);
          for (let m = 0; m < x.length; m += 1) x[m] += table.data[run * x.length + m];
        },
      };
    },
    rope: (options, get, heads, size) => ({
      rotate(x, j) {
        const y = new Float64Array(x.length), half = size / 2;
        for (let h = 0; h < heads; h += 1) for (let m = 0; m < half; m += 1) {
          const angle = Math.fround(j * Math.fround(options.base ** (-Math.fround((2 * m) / size)))), a = h * size + m, b = a + half;
          y[a] = x[a] * Math.cos(angle) - x[b] * Math.sin(angle);
          y[b] = x[b] * Math.cos(angle) + x[a] * Math.sin(angle);
        }
        return y;
      },
    }),
    alibi: (options) => ({ bias: (q, h, j) => (i) => -options.slopes[h] * (j - i) }),
    rpe: (options, get, heads, size) => ({
      bias(q, h, j) {
        const table = get('table'), rows = table.shape[1];
        const scores = Array.from({ length: Math.min(j + 1, rows) }, (_, m) => dot(q, h * size, table.data, (h * rows + m) * size, size));
        return (i) => scores[Math.min(j - i, rows - 1)];
      },
    }),
    'rpe-square': (options, get, heads, size) => {
      const anchors = new Anchors(options, get, heads, size);
      return {
        anchors,
        add: (hidden, q, k) => anchors.add(hidden, q, k),
        bias(q, h, j) {
          const table = get('table'), rows = table.shape[1], w = (rows - 1) / 2;
          const scores = Array.from({ length: rows }, (_, m) => dot(q, h * size, table.data, (h * rows + m) * size, size));
          if (anchors.hard) {
            const own = anchors.distances[h];
            return (i) => scores[clamp(own[j] - own[i], -w, w) + w];
          }
          // along the distance c of the query to its anchor first, then along that of the key: [c'] = sum of P[j, c] g(c - c')
          const row = anchors.rows[h][j], of = (c) => (c < 0 || c > j ? 0 : row[j - c]);
          const upTo = new Float64Array(j + 2);
          for (let c = 0; c <= j; c += 1) upTo[c + 1] = upTo[c] + of(c);
          const total = (from, to) => (to < from ? 0 : upTo[clamp(to + 1, 0, j + 1)] - upTo[clamp(from, 0, j + 1)]);
          const mixed = Float64Array.from({ length: j + 1 }, (_, other) => {
            let sum = scores[0] * total(0, other - w) + scores[2 * w] * total(other + w, j);
            if (w === 0) return scores[0];
            for (let m = 1 - w; m < w; m += 1) sum += scores[m + w] * of(other + m);
            return sum;
          });
          return (i) => {
            const keys = anchors.rows[h][i];
            let sum = 0;
            for (let l = 0; l <= i; l += 1) sum += keys[l] * mixed[i - l];
            return sum;
          };
        },
      };
    },
    'rpe-absolute': (options, get, heads, size) => {
      const anchors = new Anchors(options, get, heads, size), keys = [];
      return {
        anchors,
        add(hidden, q, k) {
          anchors.add(hidden, q, k);
          const table = get('table'), rows = table.shape[1], i = keys.length, key = new Float64Array(heads * size);
          for (let h = 0; h < heads; h += 1) {
            const put = (distance, weight) => {
              const start = (h * rows + Math.min(distance, rows - 1)) * size;
              for (let m = 0; m < size; m += 1) key[h * size + m] += weight * table.data[start + m];
            };
            if (anchors.hard) put(anchors.distances[h][i], 1); else anchors.rows[h][i].forEach((weight, l) => put(i - l, weight));
          }
          keys.push(key);
        },
        bias: (q, h) => (i) => dot(q, h * size, keys[i], h * size, size),
      };
    },
    'latent-window': (options, get, heads, size) => {
      const fixed = options.absolute === 'start' ? heads / 2 : 0;
      const anchors = new Anchors({ ...options, projections: 'recent', hard: true, first_token_heads: fixed }, get, heads, size);
      return {
        anchors,
        add: (hidden, q, k) => anchors.add(hidden, q, k),
        // the keys that a query can see: inside its window and no anchors
        visible(h, j, i) {
          const distances = anchors.distances[h], own = options.absolute && h >= heads / 2 ? 0 : distances[j];
          return distances[i] > 0 && Math.abs(own - distances[i]) <= options.window;
        },
        bias(q, h, j) {
          const table = get('table'), rows = table.shape[1], distances = anchors.distances[h];
          const own = options.absolute && h >= heads / 2 ? 0 : distances[j];
          const scores = Array.from({ length: rows }, (_, m) => dot(q, h * size, table.data, (h * rows + m) * size, size));
          return (i) => {
            const m = own - distances[i];
            return (Math.abs(m) <= options.window ? scores[m + options.window] : -BEYOND) - (distances[i] === 0 ? BEYOND : 0);
          };
        },
      };
    },
  };

  class Model {
    constructor(spec, weights) {
      Object.assign(this, { spec, weights, seen: 0 });
      const { heads, dimension } = spec.model;
      this.size = dimension / heads;
      this.layers = Array.from({ length: spec.model.layers }, (_, layer) => ({
        k: [],
        v: [],
        terms: spec.position.map(({ name, options }, term) => {
          const prefix = `blocks.${layer}.attention.position.${spec.position.length > 1 ? `terms.${term}.` : ''}`;
          return POSITIONS[name](options, (weight) => weights[prefix + weight], heads, this.size);
        }),
      }));
    }

    // Reads one token; if its successor is wanted, returns the logits and what each layer attends to.
    read(token, wanted = true) {
      const { weights, spec, size } = this, { dimension: D } = spec.model, j = this.seen;
      this.seen += 1;
      let x = Float64Array.from(weights['tokens.weight'].data.subarray(token * D, (token + 1) * D));
      for (const term of this.layers[0].terms) if (term.embed) term.embed(x, token, j);
      const attention = [];
      for (const [number, layer] of this.layers.entries()) {
        const last = number === this.layers.length - 1, at = (name) => weights[`blocks.${number}.${name}`];
        const hidden = norm(x, at('attention_norm.weight'), at('attention_norm.bias'));
        let [q, k, v] = this.project(hidden, at);
        for (const term of layer.terms) if (term.add) term.add(hidden, q, k);
        q = q.map((value) => value / Math.sqrt(size));
        for (const term of layer.terms) if (term.rotate) [q, k] = [term.rotate(q, j), term.rotate(k, j)];
        layer.k.push(k);
        layer.v.push(v);
        if (last && !wanted) return null;
        const [mixed, seen] = this.attend(q, layer, j, at);
        attention.push(seen);
        const out = linear(mixed, at('attention.out.weight'), at('attention.out.bias'));
        x = x.map((value, m) => value + out[m]);
        for (let m = 0; m < (spec.model.mlps || 1); m += 1) {
          const [own, mlp] = m === 0 ? ['mlp_norm', 'mlp'] : [`further_norms.${m - 1}`, `further_mlps.${m - 1}`];
          const inner = linear(norm(x, at(`${own}.weight`), at(`${own}.bias`)), at(`${mlp}.0.weight`), at(`${mlp}.0.bias`)).map(gelu);
          const added = linear(inner, at(`${mlp}.2.weight`), at(`${mlp}.2.bias`));
          x = x.map((value, index) => value + added[index]);
        }
      }
      const logits = linear(norm(x, weights['norm.weight'], weights['norm.bias']), weights['tokens.weight']);
      return { logits, attention };
    }

    project(hidden, at) {
      const { heads, dimension: D, position_only: constant } = this.spec.model;
      if (!constant) {
        const all = linear(hidden, at('attention.qkv.weight'), at('attention.qkv.bias'));
        return [all.slice(0, D), all.slice(D, 2 * D), all.slice(2 * D)];
      }
      const constants = at('attention.constants').data;
      return [Float64Array.from(constants.subarray(0, D)), Float64Array.from(constants.subarray(D, 2 * D)), linear(hidden, at('attention.values.weight'), at('attention.values.bias'))];
    }

    attend(q, layer, j, at) {
      const { model } = this.spec, { heads } = model, size = this.size, mixed = new Float64Array(model.dimension), seen = [];
      const factor = (model.sharpen || 1) * (model.log_length ? Math.log1p(j + 1) / Math.log1p(model.log_length_reference) : 1);
      const [nulls, ssmax] = [at('attention.weights.null_key'), at('attention.weights.ssmax')];
      for (let h = 0; h < heads; h += 1) {
        const own = factor * (ssmax ? ssmax.data[h] : 1), start = h * size;
        const logits = new Float64Array(nulls ? j + 2 : j + 1);
        const biases = layer.terms.filter((term) => term.bias).map((term) => term.bias(q, h, j));
        for (let i = 0; i <= j; i += 1) {
          let logit = dot(q, start, layer.k[i], start, size);
          for (const bias of biases) logit += bias(i);
          logits[i] = own * logit;
        }
        if (nulls) logits[j + 1] = own * dot(q, start, nulls.data, start, size) + factor * (model.null_lead || 0);
        const weights = softmax(logits), kept = [], visible = [];
        const anchored = layer.terms.find((term) => term.anchors), windowed = layer.terms.find((term) => term.visible);
        for (let i = 0; i <= j; i += 1) {
          if (weights[i] > 0) for (let m = 0; m < size; m += 1) mixed[start + m] += weights[i] * layer.v[i][start + m];
          if (weights[i] >= FAINT) kept.push([i, weights[i]]);
          if (windowed && windowed.visible(h, j, i)) visible.push(i);
        }
        seen.push({ weights: kept, visible, nothing: nulls ? weights[j + 1] : 0, anchors: anchored ? anchored.anchors : null });
      }
      return [mixed, seen];
    }
  }

  // Yields the tokens of the answer to a prompt, up to `e` or to so many, each with what the model attends to; and
  // null after each token of the prompt, so that whoever asks can do something else in between.
  function* answer(spec, weights, prompt, most) {
    const model = new Model(spec, weights), tokens = [...prompt].map((token) => spec.alphabet.indexOf(token));
    for (const token of tokens.slice(0, -1)) yield model.read(token, false);
    let token = tokens[tokens.length - 1];
    for (let written = 0; written < most && spec.alphabet[token] !== 'e'; written += 1) {
      const { logits, attention } = model.read(token);
      token = logits.reduce((best, value, index) => (value > logits[best] ? index : best), 0);
      yield { token: spec.alphabet[token] || '_', chances: softmax([...logits]), attention };
    }
  }

  function decode(tensors) {
    return Object.fromEntries(Object.entries(tensors).map(([name, { shape, data }]) => {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      return [name, { shape, data: new Float32Array(bytes.buffer) }];
    }));
  }
  return { answer, decode };
})();
