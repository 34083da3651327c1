import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { describeResend, formatResendCommand } from '../../../report-kit/resend-command.ts';

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
    ? describeResend(address, program)
    : formatResendCommand(file, address, program);
}
