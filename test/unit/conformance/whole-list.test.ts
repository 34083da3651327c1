/** Why requirements about filters and pages were not judged: what the run saw, not what it assumes. */
import t from 'tap';
import { serviceSuite } from '../../../conformance/areas/index.ts';
import { noWholeList } from '../../../conformance/areas/service/results/whole-list.ts';
import type { Unjudged } from '../../../conformance/engine/checks/check.ts';
import type { ResultsStep } from '../../../conformance/areas/service/steps.ts';
import type { Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import { makeProductionRead } from '../../support/conformance/production-read.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const run = newRunRecord();

const session = (id: string, change: object = {}) => ({
  url: `https://app.example/production-eval/e?sessionId=${id}`,
  run: 'Live traces 2026-11-20',
  source_session_id: id,
  started_at: '2026-11-20T09:20:00Z',
  outcome_summary: { total_evaluations: 1 },
  eval_outcomes: [{ eval_name: 'Polite', outcome: 'pass' }],
  ...change,
});

const read = (id: number, step: ResultsStep, status: number, items: readonly object[]): Exchange =>
  makeProductionRead({ id, step, status, items });

const explain = (...exchanges: Exchange[]): Unjudged =>
  noWholeList('production')({ run, exchanges });

void t.test('a url that changes from read to read is named', (t) => {
  const again = session('s-1', { url: 'https://app.example/production-eval/e?token=2' });
  t.match(explain(read(1, 'whole', 200, [session('s-1')]), read(9, 'whole again', 200, [again])), {
    verdict: 'not_observed',
    reason:
      /^Two reads list no production session in the same way: `url` was "https:.*", and then "https:.*token=2" \(exchanges 1 and 9\)\.$/,
    remedy: /^Return the same `url`/,
  });
  t.end();
});

void t.test('lists of other sessions are distinguished from sessions that change', (t) => {
  const { reason } = explain(
    read(1, 'whole', 200, [session('s-1')]),
    read(9, 'whole again', 200, [session('s-2')]),
  );
  t.match(reason, /^Two reads list no production session in common \(exchanges 1 and 9\)\.$/);
  t.end();
});

void t.test('a failed read does not count as traffic', (t) => {
  const whole = read(1, 'whole', 200, [session('s-1')]);
  t.match(
    explain(whole, read(9, 'whole again', 500, [])).reason,
    /^The run reads all production sessions twice .* one of the reads got 500 without a list \(exchange 9\)\.$/,
  );
  const filtered = read(5, 'run', 400, []);
  t.match(
    explain(whole, filtered, read(9, 'whole again', 200, [session('s-1')])).reason,
    /^No read for this rule returned a list\. Reads without a list: exchange 5 "run" \(400\)\.$/,
  );
  t.end();
});

void t.test('a single session makes no pages', (t) => {
  const exchanges = [
    read(1, 'whole', 200, [session('s-1')]),
    read(9, 'whole again', 200, [session('s-1')]),
  ];
  t.match(serviceSuite.checks['SERVICE-080']?.unjudged({ run, exchanges }), {
    verdict: 'not_observed',
    reason: /^The service listed only one production session/,
  });
  t.end();
});
