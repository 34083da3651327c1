import type { CheckResult } from '../../conformance/index.ts';
import { resolvePointer, type ExchangeRecord } from '../../src/contract/index.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import type { Terminal } from '../output/terminal.ts';
import { writeRow } from './rows.ts';

/** Shows the transcript and the audio of a call. Returns whether all checks passed. */
export function showCall({ transcript, report }: CheckResult, out: Terminal): boolean {
  const call = transcript.exchanges.find(({ step }) => step === 'conversation');
  const summary = report.calls?.find(({ exchange }) => exchange === call?.id);
  const latenciesMs = summary?.turnResponsesMs ?? [];
  for (const [index, { user, agent }] of (call ? turnsOf(call) : []).entries()) {
    const latencyMs = latenciesMs[index];
    const latency = latencyMs === undefined ? '' : `  ${Math.round(latencyMs)} ms`;
    writeRow(out, 'user', user);
    writeRow(out, 'agent', agent + out.style('dim', latency));
  }
  if (!summary || summary.packets === 0) {
    out.write(`   ${out.style('red', 'No audio arrived.')}\n`);
    return false;
  }
  const { soundMs, packets, lost } = summary;
  const seconds = (soundMs / 1000).toFixed(1);
  out.write(`   Received ${seconds} s of speech in ${packets} Opus packets, ${lost} lost.\n`);
  if (report.audioLatency) {
    const lines = wrap(`Latency: ${report.audioLatency.reason}.`, out.width - 3);
    out.write(lines.map((line) => `   ${line}\n`).join(''));
  }
  const { fail = 0, error = 0 } = report.counts;
  return fail + error === 0;
}

/** Returns the turns of a call from the transcripts that the sandbox sends. */
function turnsOf({ call }: ExchangeRecord): { user: string; agent: string }[] {
  return (call?.events ?? []).flatMap(({ from, kind, text }) => {
    if (from !== 'sandbox' || kind !== 'message' || text === undefined) return [];
    const message: unknown = JSON.parse(text);
    const [user, agent] = ['user', 'agent'].map((side) =>
      resolvePointer(message, `/transcript/${side}`),
    );
    return typeof user === 'string' && typeof agent === 'string' ? [{ user, agent }] : [];
  });
}
