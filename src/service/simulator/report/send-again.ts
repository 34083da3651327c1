/** How to send the request of a turn again: by `sandbox-kit resend` from the report, or by curl. */
import type { SimulatedSessionReport, SimulationReport } from '../../../contract/index.ts';
import { formatChatCommand } from '../../../report-kit/chat-command.ts';
import { describeTurnOption, formatResendCommand } from '../../../report-kit/resend-command.ts';

/**
 * Returns the POSIX shell command that sends the request of the failed turn of a session again; undefined
 * if the session has no such turn, or the command is long.
 */
export const formatTurnCommand = (
  { sandbox, hasKey = false }: Pick<SimulationReport, 'sandbox' | 'hasKey'>,
  { failed_turn: failed }: Pick<SimulatedSessionReport, 'failed_turn'>,
): string | undefined => failed && formatChatCommand({ url: sandbox, hasKey }, failed.request);

/**
 * Says how to send the request of a turn again; undefined if the report does not contain it.
 *
 * @param turn The number of the turn (default: the last one).
 * @param file The JSON report, as the user named it; undefined if none is written.
 * @param program How the user types the name of the program.
 */
export function describeTurnResend(
  { scenario_id: id, sample, traces, resendable }: SimulatedSessionReport,
  {
    turn = traces.at(-1)?.session_sequence,
    file,
    program,
  }: { turn?: number | undefined; file: string | undefined; program?: string | undefined },
): string | undefined {
  if (!resendable || turn === undefined) return undefined;
  const address = `${id}-${sample}/${turn}`;
  return file === undefined
    ? describeTurnOption(address, program)
    : formatResendCommand(file, address, program);
}
