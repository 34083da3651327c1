/**
 * The switchboard: which verbs there are. A verb loads its own wing when it is called, so that none
 * pays for the others.
 */
import yargs, { type CommandModule } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { kitVersion } from './kit-version.ts';
import { exitCodes, UsageError } from './usage-error.ts';
import { agentVerb } from './agent.ts';
import { checkVerb } from './check.ts';
import { demoVerb } from './demo.ts';
import { doctorVerb } from './doctor.ts';
import { explainVerb } from './explain.ts';
import { gradeVerb } from './grade.ts';
import { schemasVerb } from './schemas.ts';
import { selftestVerb } from './selftest.ts';

const verbs: readonly CommandModule[] = [
  checkVerb,
  doctorVerb,
  agentVerb,
  explainVerb,
  gradeVerb,
  selftestVerb,
  schemasVerb,
  demoVerb,
];

const EPILOGUE = `Examples:
  sandbox-kit demo                              see all of it in one go
  sandbox-kit agent                             a sandbox to build against
  sandbox-kit check https://sandbox.example.com does my sandbox obey?
  sandbox-kit explain CHAT-024                  what does a requirement ask?

The sandbox's key is read from SANDBOX_KIT_API_KEY.
Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 could not judge, 70 our fault.`;

/** Runs the kit with the arguments of the process, and sets its exit code. */
export async function main(args: string[]): Promise<void> {
  try {
    await verbs
      .reduce((parser, verb) => parser.command(verb), yargs(args))
      .scriptName('sandbox-kit')
      .usage('$0 VERB\n\nCheck, build and try the two sides of an agent evaluation service.')
      .epilogue(EPILOGUE)
      .version(kitVersion())
      .help()
      .alias('help', 'h')
      .wrap(80)
      .strict()
      .demandCommand(1, 'Say what to do, for example: sandbox-kit demo.')
      .recommendCommands()
      .fail((message: string | null, error: Error | undefined) => {
        throw error ?? new UsageError(sentence(message ?? 'The arguments are wrong.'));
      })
      .parseAsync();
  } catch (error) {
    complain(error);
  }
}

/** yargs puts several lines and no full stop into its complaints. */
function sentence(message: string): string {
  const line = message.replaceAll(/\s*\n\s*/g, ' ').trim();
  return /[.?!]$/.test(line) ? line : `${line}.`;
}

function complain(error: unknown): void {
  if (error instanceof UsageError) {
    process.stderr.write(`sandbox-kit: ${error.message}\n`);
    process.exitCode = exitCodes.usage;
    return;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(
    `sandbox-kit: a fault of the kit itself, please report it:\n${stack ?? ''}\n`,
  );
  process.exitCode = exitCodes.ourFault;
}

await main(hideBin(process.argv));
