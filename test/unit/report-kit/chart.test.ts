/** Charts: where their labels are. */
import t from 'tap';
import { drawDot, renderSmallChart, type Axis } from '../../../src/report-kit/chart.ts';

const makeAxis = (min: number, max: number, labels: readonly [number, string][]): Axis => ({
  min,
  max,
  scale: 'linear',
  ticks: labels.map(([value, label]) => ({ value, label })),
});

/** Draws a chart with these labels, and returns the x of each text and of the dot at 0. */
function draw(x: Axis, y: Axis): { labels: Map<string, number>; dot: number } {
  const { text } = renderSmallChart({
    label: 'test',
    x,
    y,
    height: 90,
    marks: (plot) => [drawDot(plot, [0, 0], { className: 'dot', title: 'dot' })],
  });
  const labels = Array.from(text.matchAll(/<text class="[^"]*" x="([^"]*)"[^>]*>([^<]*)</g));
  return {
    labels: new Map(labels.map(([, at, label = '']) => [label, Number(at)])),
    dot: Number(/cx="([^"]*)"/.exec(text)?.[1]),
  };
}

void t.test('a chart makes room for the labels of its y axis', (t) => {
  const days = makeAxis(0, 2, [[1, 'day']]);
  const short = draw(days, makeAxis(0, 1, [[1, '5 s']]));
  const long = draw(days, makeAxis(0, 1, [[1, '99.95% of the requests']]));
  t.equal(short.dot, 52, 'short labels leave the plot where it is');
  t.ok((long.labels.get('99.95% of the requests') ?? 0) > 130, 'the label ends left of the plot');
  t.ok(long.dot > (long.labels.get('99.95% of the requests') ?? 0));
  t.end();
});

void t.test('labels of the x axis stay inside the chart, and do not touch', (t) => {
  const y = makeAxis(0, 1, [[1, '5 s']]);
  const wide = 'a very long label at the end';
  const { labels } = draw(makeAxis(0, 2, [[2, wide]]), y);
  t.ok((labels.get(wide) ?? 400) + (wide.length * 6.4) / 2 <= 360, 'it is moved to the left');
  const crowded = draw(
    makeAxis(0, 100, [
      [0, '2026-11-01'],
      [98, '2026-11-19'],
      [100, '2026-11-20'],
    ]),
    y,
  );
  t.same([...crowded.labels.keys()], ['5 s', '2026-11-01', '2026-11-20'], 'the last one counts');
  t.end();
});
