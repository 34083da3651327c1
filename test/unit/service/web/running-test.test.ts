/** How the page of an agent shows a test that runs. */
import t from 'tap';
import { renderTest } from '../../../../src/service/web/agents/test-pages.ts';

void t.test('the last second of a test is not counted in milliseconds', (t) => {
  const read = (leftMs: number): string =>
    renderTest(
      'shop',
      {
        kind: 'check',
        plan: { sentence: 'It sends 1 request.', requests: 1, modelRequests: 1 },
        progress: { state: 'checking', share: 0.9, leftMs },
        end: 'running',
      },
      { serviceUrl: 'http://127.0.0.1:1', query: new URLSearchParams() } as never,
    ).text;
  t.match(read(569), 'checking, less than a second left.');
  t.match(read(1_500), 'checking, about 1.5 s left.');
  t.end();
});
