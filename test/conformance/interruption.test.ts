/** An interrupted run: what it showed is judged, and everything else is blocked. */
import t, { type Test } from 'tap';
import type { Suite } from '../../conformance/engine/area.ts';
import { judgeTranscript } from '../../conformance/engine/judge/judge.ts';
import type { Transcript } from '../../conformance/engine/transcript/transcript.ts';
import { serviceSuite, sandboxSuite } from '../../conformance/areas/index.ts';
import {
  check,
  readTranscript,
  reportOf,
  writeTranscript,
  type CheckResult,
} from '../../conformance/index.ts';
import { findViolations } from '../../src/contract/index.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { recordSandboxOnce, recordServiceOnce } from '../support/conformance/recorded-runs.ts';
import { atNight } from '../support/nightly.ts';
import { withMutant } from '../support/sandboxes/mutant.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const areas = ['chat', 'health', 'users'] as const;

/** Checks the reference agent, or a mutant of it, and interrupts the run after some exchanges. */
async function interrupt(t: Test, exchanges: number, mutantId?: string): Promise<CheckResult> {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const target = mutantId === undefined ? agent.url : await withMutant(t, mutantId, agent.url);
  const controller = new AbortController();
  let seen = 0;
  return await check({
    target,
    kitVersion: 'test',
    seed: 'interrupt',
    areas,
    signal: controller.signal,
    onExchange: () => {
      if (++seen === exchanges) controller.abort();
    },
  });
}

void t.test('the verdicts found so far remain, and the rest is blocked', async (t) => {
  const { report, transcript } = await interrupt(t, 70);
  t.match(report, { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'interrupted' } });
  t.match(report.blockedBy, {
    message: 'The run was interrupted.',
    cure: /^The verdicts found so far remain, and the other requirements are blocked\./,
  });
  t.same(findViolations('CheckReport', report), []);
  t.same(idsWith(report, 'fail', 'warn', 'error'), []);
  const passed = idsWith(report, 'pass');
  for (const id of ['CHAT-002', 'CHAT-024', 'HEALTH-010']) t.ok(passed.includes(id), id);
  const blocked = idsWith(report, 'blocked');
  for (const id of ['CHAT-013', 'HEALTH-007']) t.ok(blocked.includes(id), id);
  const again = reportOf(readTranscript(writeTranscript(transcript)), report.endedAt);
  t.same(again, report, 'the recording gets the same verdicts');
});

void t.test('a failure that was found makes the verdict, as in a complete run', async (t) => {
  const { report } = await interrupt(t, 60, 'chat/content-null');
  t.match(report, { verdict: 'not-conforming', exitCode: 1, blockedBy: { id: 'interrupted' } });
  t.same(idsWith(report, 'fail'), ['CHAT-024']);
  t.ok(idsWith(report, 'blocked').length > 0);
});

void t.test('before the end of the preflight, nothing is judged', async (t) => {
  const { report } = await interrupt(t, 1);
  t.match(report, { verdict: 'not-judged', exitCode: 3, blockedBy: { cure: 'Run it again.' } });
  t.same(idsWith(report, 'pass', 'fail', 'warn', 'note', 'error'), []);
});

/** Returns a recording as if the run had been interrupted after some exchanges. */
function cutAfter(suite: Suite, { run, exchanges }: Transcript, count: number): Transcript {
  const isUnfinished = (id: string): boolean => {
    const last = exchanges.findLastIndex(({ probe }) => probe === id);
    return last < 0 || last >= count;
  };
  const unfinishedProbes = [...new Set(suite.probes.map(({ id }) => id))].filter(isUnfinished);
  return {
    run: { ...run, interrupted: true, unfinishedProbes },
    exchanges: exchanges.slice(0, count),
  };
}

void t.test('an interruption at any time accuses no conforming peer', async (t) => {
  for (const [suite, whole] of [
    [sandboxSuite, await recordSandboxOnce()],
    [serviceSuite, (await recordServiceOnce()).transcript],
  ] as const) {
    let passedBefore = 0;
    const { length } = whole.exchanges;
    for (let count = 0; count <= length; count += atNight(7, 40)) {
      const { requirements, counts } = judgeTranscript(suite, cutAfter(suite, whole, count));
      const accused = [...requirements].filter(([, { verdict }]) =>
        ['fail', 'warn', 'error'].includes(verdict),
      );
      t.same(accused, [], `${suite.peer}, after ${count} of ${length} exchanges`);
      t.ok(counts.pass >= passedBefore, 'no verdict gets lost later');
      passedBefore = counts.pass;
    }
    t.ok(passedBefore > 0);
  }
});
