import { valueAt, type ExchangeRecord } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { kitVersion } from '../kit-version.ts';
import type { Terminal } from '../output/terminal.ts';

type Judge = typeof import('../../../conformance/index.ts');
type Checked = Awaited<ReturnType<Judge['callOnce']>>;

/** A simulated user calls a sandbox; one who speaks and listens, so that it takes a few seconds. */
export function callSandbox(judge: Judge, target: string): Promise<Checked> {
  return judge.callOnce({ target, kitVersion: kitVersion(), seed: randomSeed() });
}

/** Says what was said in a call, by its updates, and what was heard; whether all of it was well. */
export function tellCall({ transcript, report }: Checked, out: Terminal): boolean {
  const call = transcript.exchanges.find(({ step }) => step === 'conversation');
  const summary = report.calls?.find(({ exchange }) => exchange === call?.id);
  const times = summary?.turnResponsesMs ?? [];
  for (const [nth, { user, agent }] of (call ? turnsOf(call) : []).entries()) {
    const time = times[nth] === undefined ? '' : `  ${Math.round(times[nth])} ms`;
    out.write(`   user   ${user}\n   agent  ${agent}${out.style('dim', time)}\n`);
  }
  if (!summary || summary.packets === 0) {
    out.write(`   ${out.style('red', 'No sound came.')}\n`);
    return false;
  }
  const { soundMs, packets, lost } = summary;
  const seconds = (soundMs / 1000).toFixed(1);
  out.write(`   Heard: ${seconds} s of speech in ${packets} packets of Opus, ${lost} lost.\n`);
  if (report.audioLatency) out.write(`   Latency: ${report.audioLatency.reason}.\n`);
  const { fail = 0, error = 0 } = report.counts;
  return fail + error === 0;
}

/** What a sandbox says that was said. */
function turnsOf({ call }: ExchangeRecord): { user: string; agent: string }[] {
  return (call?.events ?? []).flatMap(({ from, kind, text }) => {
    if (from !== 'sandbox' || kind !== 'message' || text === undefined) return [];
    const message: unknown = JSON.parse(text);
    const [user, agent] = ['user', 'agent'].map((who) => valueAt(message, `/transcript/${who}`));
    return typeof user === 'string' && typeof agent === 'string' ? [{ user, agent }] : [];
  });
}
