import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { seconds, trimmed } from '../verdict/amounts.ts';

type Told = Pick<LoadReport, 'verdict' | 'targets' | 'selfCheck' | 'plan'> & {
  blockedBy: LoadReport['blockedBy'] | undefined;
};

/** The verdict of a run in one sentence or two. */
export function sentenceOf(report: Told): string {
  const { verdict, targets, selfCheck, blockedBy } = report;
  if (blockedBy) return `Not judged: ${blockedBy.message}`;
  switch (verdict) {
    case 'INVALID RUN':
      return `Not judged: ${selfCheck.reasons[0] ?? 'the run is not valid.'}`;
    case 'NOT TESTED':
      return 'Nothing was tested.';
    case 'PASS':
      return `${allThatHolds(report)} ${tally(targets)}`;
    case 'FAIL':
    case 'NOT PROVEN':
      return `${wordsOf(targets, verdict)} ${tally(targets)}`;
  }
}

function allThatHolds({ targets, plan }: Told): string {
  const passed = targets.filter(({ verdict }) => verdict === 'PASS');
  const throughput = passed.find(({ id }) => id === 'chat-throughput');
  const latency = passed.find(({ id }) => id === 'chat-latency');
  if (throughput && latency) {
    const rate = trimmed(throughput.target, 2);
    return `Chat holds ${rate} requests/s, p${plan.percentile} ${seconds(latency.measured ?? 0)}.`;
  }
  const connections = passed.find(({ id }) => id === 'voice-connections');
  const audio = passed.find(({ id }) => id === 'voice-latency');
  if (connections && audio) {
    return `Voice holds ${connections.measured ?? 0} calls at once, the audio takes ${seconds(audio.measured ?? 0)}.`;
  }
  const [first] = passed;
  return first ? `Holds: ${first.statement}` : '';
}

function wordsOf(targets: readonly LoadTarget[], verdict: 'FAIL' | 'NOT PROVEN'): string {
  const word = verdict === 'FAIL' ? 'Missed' : 'Not proven';
  const said = targets.filter((one) => one.verdict === verdict).map(({ statement }) => statement);
  return `${word}: ${said.map((says) => says.replace(/\.$/, '')).join('; ')}.`;
}

const order = ['PASS', 'FAIL', 'NOT PROVEN', 'NOT TESTED'] as const;
const words = {
  PASS: 'passed',
  FAIL: 'failed',
  'NOT PROVEN': 'not proven',
  'NOT TESTED': 'not tested',
};

/** "2 of 7 targets passed, 1 failed, 4 not tested." */
function tally(targets: readonly LoadTarget[]): string {
  const counts = order.flatMap((verdict) => {
    const count = targets.filter((one) => one.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${words[verdict]}`];
  });
  const [first = '', ...more] = counts;
  const [number = '', ...rest] = first.split(' ');
  return `${[`${number} of ${targets.length} targets ${rest.join(' ')}`, ...more].join(', ')}.`;
}
