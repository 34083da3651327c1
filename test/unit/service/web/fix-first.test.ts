import t from 'tap';
import type { ReadinessPartReport, ReadinessReport } from '../../../../src/contract/index.ts';
import { withCode } from '../../../../src/report-kit/html.ts';
import { renderFixFirst, type ReasonLinks } from '../../../../src/service/web/agents/fix-first.ts';

const noLinks: ReasonLinks = {
  linkToReport: () => undefined,
  linkToScenario: () => undefined,
  linkToSessions: () => undefined,
  linkRequirements: withCode,
};

const createTarget = (statement: string, verdict: string) => ({
  statement,
  verdict,
  target: 1,
  measured: 1,
  unit: 'ms',
});

void t.test('failures come before what is not proven, whichever part they belong to', (t) => {
  const parts: Partial<ReadinessPartReport>[] = [
    { id: 'connection', name: 'Connection', standing: 'pass' },
    {
      id: 'load',
      name: 'Load',
      standing: 'warn',
      targets: [createTarget('Slow start', 'NOT PROVEN'), createTarget('Quick chat', 'FAIL')],
    },
    {
      id: 'simulations',
      name: 'Simulations',
      standing: 'fail',
      scenarios: [
        { scenario_id: 'a', run_id: 'r', verdict: 'failed', passed: 0, samples: 1 },
        { scenario_id: 'b', run_id: 'r', verdict: 'passed', passed: 1, samples: 1 },
      ] as unknown as NonNullable<ReadinessPartReport['scenarios']>,
    },
  ];
  const report = { parts, readiness: 'not_ready' } as unknown as ReadinessReport;
  const text = renderFixFirst(report, noLinks)?.text ?? '';
  const places = ['Simulations', 'Quick chat', 'Slow start'].map((part) => text.indexOf(part));
  t.ok(
    places.every((place) => place > 0),
    text,
  );
  t.same(
    places,
    places.toSorted((a, b) => a - b),
  );
  t.end();
});

void t.test('a reason that repeats is shown once', (t) => {
  const target = createTarget('Quick chat', 'FAIL');
  const load = { id: 'load', name: 'Load', standing: 'fail', targets: [target, target] };
  const report = { parts: [load], readiness: 'not_ready' } as unknown as ReadinessReport;
  const text = renderFixFirst(report, noLinks)?.text ?? '';
  t.equal(text.match(/Quick chat/g)?.length, 1, text);
  t.end();
});
