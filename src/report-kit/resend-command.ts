import { quoteArgument } from '../platform/shell.ts';
import { PROGRAM_NAME } from './program-name.ts';

/**
 * Returns the command that sends a request of a run again.
 *
 * @param report The file of the JSON report or the recording, as the user named it; `-` is stdout.
 * @param exchange The number of the exchange; of a simulation, `SCENARIO-SAMPLE/TURN`.
 * @param program How the user types the name of the program.
 */
export const formatResendCommand = (
  report: string,
  exchange: number | string,
  program = PROGRAM_NAME,
): string =>
  `${program} resend ${report === '-' ? 'REPORT' : quoteArgument(report)} ${quoteArgument(String(exchange))}`;

/** The name of a report in commands, if none was written. */
const SUGGESTED_REPORT = 'report.json';

/** Says which option makes the turns of a simulation repeatable, if no report was written. */
export const describeTurnOption = (address: string, program?: string): string =>
  `To send a request again, add --json ${SUGGESTED_REPORT}, then run ${formatResendCommand(SUGGESTED_REPORT, address, program)}.`;

/**
 * Says which option makes the requests of a check repeatable, if no report was written. It names no
 * exchange, because in the next run they have other numbers.
 */
export const describeExchangeOption = (program?: string): string =>
  `To send a request again, add --json ${SUGGESTED_REPORT}. The output then shows the commands, such as ${formatResendCommand(SUGGESTED_REPORT, 'NUMBER', program)}.`;
