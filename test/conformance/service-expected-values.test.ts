/** What a finding about a service expects comes from the rule, never from the value that breaks it. */
import t from 'tap';
import { serviceSuite } from '../../conformance/areas/index.ts';
import { serviceMutants } from '../../conformance/areas/mutants.ts';
import { reportOf } from '../../conformance/index.ts';
import { replay } from '../../conformance/proof/replay.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { recordServiceOnce } from '../support/conformance/recorded-runs.ts';

const rows: readonly (readonly [
  mutant: string,
  requirement: string,
  finding: { expected: string | RegExp; received: string | RegExp },
])[] = [
  [
    'service/run-base-alone',
    'SERVICE-085',
    {
      expected: /^"Live traces \d{4}-\d\d-\d\d", as in the close response \(exchange \d+\)$/,
      received: '"Live traces"',
    },
  ],
  [
    'service/outcome-forgotten',
    'SERVICE-122',
    {
      expected: /^2, as `evaluations_queued` in the close response \(exchange \d+\)$/,
      received: '1',
    },
  ],
  [
    'service/run-of-its-own',
    'SERVICE-055',
    {
      expected: 'one run for both conversations',
      received: /^"Live traces \S+ \S+", and "Live traces \S+ \S+" of exchange \d+$/,
    },
  ],
];

for (const [id, requirement, finding] of rows) {
  void t.test(`${id}: the expected value is not the wrong one`, async (t) => {
    const mutant = serviceMutants.find((each) => each.id === id);
    if (!mutant) throw new Error(`Unknown mutant ${id}`);
    const { transcript: recorded } = await recordServiceOnce();
    const { transcript } = await replay(mutant, serviceSuite, recorded);
    if (!transcript) throw new Error(`The recording does not show ${id}.`);
    const row = rowOf(reportOf(transcript, recorded.run.startedAt), requirement);
    t.match(row, { verdict: 'fail', ...finding });
  });
}
