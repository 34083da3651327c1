import { readScenarioSet } from '../../library/input/scenario-files.ts';
import { kitVersion } from '../../library/kit-version.ts';
import type { SimulationReport } from '../../src/contract/index.ts';
import { toError } from '../../src/platform/error-origin.ts';
import type { Terminal } from '../output/terminal.ts';
import { writeOutcome, writeRow } from './rows.ts';

/** Short shipped scenarios: a call takes as long as its speech. */
const scenarioOf = { chat: 'order-status', voice: 'opening-hours' } as const;

/** Starts a simulation by chat and, if this machine can speak, one by voice. They never reject. */
export async function startSimulations(
  sandbox: string,
): Promise<Promise<SimulationReport | Error>[]> {
  const { isSynthesizerInstalled } = await import('../../src/voice/speech/index.ts');
  const channels = isSynthesizerInstalled() ? (['chat', 'voice'] as const) : (['chat'] as const);
  return channels.map(async (channel) => {
    try {
      const { simulate } = await import('../../src/service/index.ts');
      const set = readScenarioSet([scenarioOf[channel]]);
      return await simulate({ ...set, sandbox, channel, seed: 'demo', kitVersion: kitVersion() });
    } catch (error) {
      return toError(error);
    }
  });
}

/** Shows the turns and evals of a simulation. Returns whether it passed. */
export function showSimulation(report: SimulationReport | Error, out: Terminal): boolean {
  const [session] = report instanceof Error ? [] : report.sessions;
  if (!session) {
    out.write(`   ${out.style('red', 'The simulation failed.')}\n`);
    if (report instanceof Error) writeRow(out, 'error', report.message);
    return false;
  }
  const { channel, scenario, persona, traces, turn_latency_ms: latenciesMs } = session;
  out.write(`   ${out.style('dim', `by ${channel}: ${scenario} (${persona})`)}\n`);
  for (const [index, turn] of traces.entries()) {
    writeRow(out, 'user', `${turn.user_input}  (${turn.user_reason})`);
    for (const { name } of turn.tool_calls ?? []) writeRow(out, 'tool', name);
    const latency = channel === 'voice' ? `  ${Math.round(latenciesMs[index] ?? 0)} ms` : '';
    writeRow(out, 'agent', `${turn.agent_response}${latency}`);
  }
  for (const { eval_name: name, outcome } of session.eval_outcomes) {
    writeOutcome(out, outcome, name);
  }
  if (session.error !== undefined) writeRow(out, 'error', session.error);
  return session.verdict === 'passed';
}
