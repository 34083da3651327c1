import type { CheckReport, EvidenceItem } from '../../src/contract/index.ts';
import { describeResend, formatResendCommand } from '../../src/report-kit/resend-command.ts';

/** The file from which requests can be sent again, as the user named it: a JSON report or a recording. */
export type ResendFile = string | undefined;

type Report = Pick<CheckReport, 'resendable' | 'requirements'>;

/** Returns the command that sends the first of some exchanges again; undefined if it can't be. */
export function resendCommandOf(
  [first]: readonly EvidenceItem[],
  { resendable }: Pick<CheckReport, 'resendable'>,
  file: ResendFile,
): string | undefined {
  if (file === undefined || !first || !resendable) return undefined;
  const isKept = resendable.exchanges.some(({ exchange }) => exchange.id === first.exchange);
  return isKept ? formatResendCommand(file, first.exchange) : undefined;
}

/** Says how to send requests again, if no file was written; undefined if one was, or nothing is broken. */
export function describeMissingFile(
  { resendable, requirements }: Report,
  file: ResendFile,
): string | undefined {
  if (file !== undefined || !resendable) return undefined;
  const kept = new Set(resendable.exchanges.map(({ exchange }) => exchange.id));
  const broken = requirements.find(
    ({ verdict, evidence: [first] }) =>
      /^(fail|warn)$/.test(verdict) && first !== undefined && kept.has(first.exchange),
  );
  const id = broken?.evidence[0]?.exchange ?? [...kept][0];
  return id === undefined ? undefined : describeResend(id);
}
