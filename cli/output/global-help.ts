/** The help of `sandbox-kit --help`. It loads no command, so that it starts fast. */
import type { CommandSummary, Example } from '../command.ts';
import { exitCodes } from '../errors.ts';
import {
  formatExamples,
  formatExitCodes,
  joinParagraphs,
  section,
  type Row,
} from './help-layout.ts';

const globalExamples: readonly Example[] = [
  { command: 'sandbox-kit demo', note: 'Show everything in about 20 seconds' },
  { command: 'sandbox-kit agent', note: 'Start a sandbox to build against' },
  { command: 'sandbox-kit check http://127.0.0.1:8080', note: 'Check a sandbox' },
  { command: 'sandbox-kit check --help', note: 'Show the options of check' },
];

const globalEnvironment: Readonly<Record<string, string>> = {
  SANDBOX_KIT_API_KEY: 'Bearer key of the sandbox',
  SANDBOX_KIT_SERVICE_API_KEY: 'API key of the service',
};

/** The exit codes that mean the same for all commands. */
const commonExitCodes: Readonly<Record<number, string>> = {
  [exitCodes.usage]: 'usage error',
  [exitCodes.internal]: 'internal error',
};

/** The exit codes of every command. Numeric keys are always in ascending order. */
export const globalExitCodes: Readonly<Record<number, string>> = {
  [exitCodes.ok]: 'OK',
  [exitCodes.findings]: 'findings',
  [exitCodes.notJudged]: 'not judged',
  ...commonExitCodes,
};

/** Adds the exit codes that mean the same for all commands to those of a command. */
export const completeExitCodes = (
  own: Readonly<Record<number, string>>,
): Readonly<Record<number, string>> => ({ ...commonExitCodes, ...own });

/** Returns the help of `sandbox-kit --help`. */
export function formatGlobalHelp(commands: readonly CommandSummary[]): string {
  const rows = commands.map((command): Row => [command.name, command.summary]);
  return joinParagraphs([
    'Usage: sandbox-kit COMMAND [options]',
    'Test agents against the interface of an evaluation service.',
    section('Commands', rows),
    section('Options', [
      ['--help', 'Show the help of sandbox-kit or of a command'],
      ['--version', 'Show the version'],
    ]),
    formatExamples(globalExamples),
    section('Environment variables', Object.entries(globalEnvironment)),
    formatExitCodes(globalExitCodes),
  ]);
}
