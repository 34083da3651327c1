import type { CheckReport, EvidenceItem } from '../../src/contract/index.ts';
import { describeContent } from '../engine/transcript/request-content.ts';
import {
  describeExchangeOption,
  formatResendCommand,
} from '../../src/report-kit/resend-command.ts';

/** The file to send requests again from, as the user named it: a JSON report or a recording. */
export type ResendFile = string | undefined;

type Report = Pick<CheckReport, 'resendable' | 'requirements' | 'blockedBy'>;

/** Returns the command that sends the first of some exchanges again; undefined if it can't be. */
export function resendCommandOf(
  [first]: readonly EvidenceItem[],
  { resendable }: Pick<CheckReport, 'resendable'>,
  file: ResendFile,
  program?: string,
): string | undefined {
  if (file === undefined || !first || !resendable) return undefined;
  const isKept = resendable.exchanges.some(({ exchange }) => exchange.id === first.exchange);
  return isKept ? formatResendCommand(file, first.exchange, program) : undefined;
}

/** How to find the request that stopped a sandbox. */
export interface SuspectCommands {
  sentence: string;
  /** A command for each suspect, the most likely first. */
  commands: string[];
}

/** The most suspects of a crash to list. */
const SUSPECTS_MAX = 6;

/** Returns for each crash without a known cause how to find it. */
export function listSuspectCommands(
  report: Pick<CheckReport, 'crashes' | 'resendable'>,
  file: ResendFile,
  program?: string,
): SuspectCommands[] {
  return (report.crashes ?? []).flatMap(({ suspects, crashedAgain, cameBack }) => {
    if (crashedAgain.length > 0) return [];
    const commands = suspects.slice(0, SUSPECTS_MAX).flatMap((suspect) => {
      const command = resendCommandOf([suspect], report, file, program);
      const row = report.resendable?.exchanges.find(
        (each) => each.exchange.id === suspect.exchange,
      );
      const content = row ? describeContent(row.exchange) : '';
      const comment = [suspect.step, content].filter(Boolean).join(', ');
      return command === undefined ? [] : [`${command}  # ${comment}`];
    });
    if (commands.length === 0) return [];
    const restart = cameBack ? '' : 'start it, and ';
    const sentence =
      commands.length === 1
        ? `To see whether this request stops the sandbox, ${restart}run:`
        : `To find the request that stops the sandbox, ${restart}run these commands one after another, the most likely first. The one that stops it is the cause.`;
    return [{ sentence, commands }];
  });
}

/** Says how to send requests again, if no file was written; undefined if one was, or nothing is broken. */
export function describeMissingFile(
  { resendable, requirements, blockedBy }: Report,
  file: ResendFile,
  program?: string,
): string | undefined {
  if (file !== undefined || !resendable) return undefined;
  const kept = new Set(resendable.exchanges.map(({ exchange }) => exchange.id));
  const isBroken = requirements.some(
    ({ verdict, evidence: [first] }) =>
      /^(fail|warn)$/.test(verdict) && first !== undefined && kept.has(first.exchange),
  );
  // If nothing could be judged, the same request would only fail again, unless it stopped the sandbox.
  const isInVain = blockedBy !== undefined && blockedBy.id !== 'unreachable';
  return isBroken || !isInVain ? describeExchangeOption(program) : undefined;
}
