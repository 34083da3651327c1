import t from 'tap';
import { createTimeColumn, renderAge, renderTime } from '../../../src/report-kit/time.ts';
import { renderItems } from '../../../src/report-kit/table.ts';

const START_MS = Date.UTC(2026, 10, 20, 9, 30, 59, 999);
const DAY_MS = 86_400_000;

void t.test('a time has no seconds, but its title and its markup have them', (t) => {
  t.equal(
    renderTime(START_MS).text,
    '<time datetime="2026-11-20T09:30:59.999Z" title="2026-11-20 09:30:59 UTC">2026-11-20 09:30 UTC</time>',
  );
  t.match(renderAge(START_MS, START_MS + 2 * DAY_MS).text, '>2 days ago</time>');
  t.end();
});

void t.test('rows of the same day show the day once', (t) => {
  const { text } = renderItems({
    label: 'Rows',
    items: [0, 60_000, undefined, DAY_MS, 0],
    columns: [
      createTimeColumn<number | undefined>({
        name: 'started',
        msOf: (afterMs) => (afterMs === undefined ? undefined : START_MS + afterMs),
        link: (_, time) => time,
      }),
    ],
  });
  t.match(text, /started <span class="soft">UTC<\/span>/);
  const cells = Array.from(text.matchAll(/<th scope="row"[^>]*>(.*?)<\/th>/gs), ([, cell]) =>
    cell?.replaceAll(/<\/?time[^>]*>/g, ''),
  );
  t.same(cells, [
    '2026-11-20 09:30',
    '<span class="same-day">2026-11-20</span> 09:31',
    '',
    '2026-11-21 09:30',
    '2026-11-20 09:30',
  ]);
  t.end();
});
