import type { SimulationReport } from '../../contract/index.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { kitVersion } from '../kit-version.ts';
import { readScenarioSet } from '../input/scenario-files.ts';
import type { Terminal } from '../output/terminal.ts';

/** One of the starter set for each channel; short ones, since a call takes as long as it takes. */
const shown = { chat: 'order-status', voice: 'opening-hours' } as const;

/**
 * Simulated users with a goal each, one by text and one by voice, where this machine can speak. None
 * rejects.
 */
export async function simulateBoth(
  sandbox: string,
): Promise<Promise<SimulationReport | undefined>[]> {
  const { canSpeak } = await import('../../voice/speech/index.ts');
  const channels = canSpeak() ? (['chat', 'voice'] as const) : (['chat'] as const);
  return channels.map(async (channel) => {
    try {
      const { simulate } = await import('../../service/index.ts');
      const set = readScenarioSet([shown[channel]]);
      return await simulate({ ...set, sandbox, channel, seed: 'demo', kitVersion: kitVersion() });
    } catch {
      return undefined;
    }
  });
}

/** Says what a simulated user did and how it was scored; whether it passed. */
export function tellSimulation(report: SimulationReport | undefined, out: Terminal): boolean {
  const [session] = report?.sessions ?? [];
  if (!session) {
    out.write(`   ${out.style('red', 'It could not be simulated.')}\n`);
    return false;
  }
  const { channel, scenario, persona, traces, turn_latency_ms: times } = session;
  out.write(`   ${out.style('dim', `by ${channel}: ${scenario} (${persona})`)}\n`);
  for (const [nth, turn] of traces.entries()) {
    told(out, 'user ', `${turn.user_input}  (${turn.user_reason})`);
    for (const { name } of turn.tool_calls ?? []) told(out, 'tool ', name);
    const time = channel === 'voice' ? `  ${Math.round(times[nth] ?? 0)} ms` : '';
    told(out, 'agent', `${turn.agent_response}${time}`);
  }
  for (const { eval_name: name, outcome } of session.eval_outcomes) {
    out.write(`   ${out.style(outcome === 'pass' ? 'green' : 'red', outcome)}   ${name}\n`);
  }
  if (session.error !== undefined) told(out, 'error', session.error);
  return session.verdict === 'passed';
}

function told(out: Terminal, who: string, text: string): void {
  const [first = '', ...more] = wrap(text, out.width - 10);
  const lines = [`   ${who}  ${first}`, ...more.map((line) => `${' '.repeat(10)}${line}`)];
  out.write(`${lines.join('\n')}\n`);
}
