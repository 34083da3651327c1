/**
 * The switchboard: which verbs there are. A verb loads its own wing when it is called, so that none
 * pays for the others.
 */
import yargs, { type Argv, type CommandModule } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { checkValues, joinDashes } from './flags/arguments.ts';
import { kitVersion } from './kit-version.ts';
import { surviveClosedPipes } from './signals.ts';
import { suggestion } from '../platform/suggest.ts';
import { exitCodes, OutputLost, UsageError } from './flags/usage-error.ts';
import { agentVerb } from './commands/agent.ts';
import { checkVerb } from './commands/check.ts';
import { demoVerb } from './commands/demo.ts';
import { doctorVerb } from './commands/doctor.ts';
import { execVerb } from './commands/exec.ts';
import { explainVerb } from './commands/explain.ts';
import { gradeVerb } from './commands/grade.ts';
import { lintTracesVerb } from './commands/lint-traces.ts';
import { loadVerb } from './commands/load.ts';
import { scenarioVerb } from './commands/scenario.ts';
import { schemasVerb } from './commands/schemas.ts';
import { selftestVerb } from './commands/selftest.ts';
import { serveVerb } from './commands/serve.ts';
import { simulateVerb } from './commands/simulate.ts';

const verbs: readonly CommandModule[] = [
  checkVerb,
  doctorVerb,
  loadVerb,
  simulateVerb,
  scenarioVerb,
  agentVerb,
  serveVerb,
  execVerb,
  lintTracesVerb,
  explainVerb,
  gradeVerb,
  selftestVerb,
  schemasVerb,
  demoVerb,
];

const EPILOGUE = `Examples:
  sandbox-kit demo                               see all of it in one go
  sandbox-kit agent                              a sandbox to build against
  sandbox-kit serve                              the service on this machine
  sandbox-kit check https://sandbox.example.com  does my sandbox obey?
  sandbox-kit load https://sandbox.example.com   does it hold its targets?
  sandbox-kit simulate https://sandbox.example.com   do its users get there?
  sandbox-kit explain CHAT-024                   what does a requirement ask?
  sandbox-kit check --help                       what can a verb do?

The sandbox's key is read from SANDBOX_KIT_API_KEY, the service's from
SANDBOX_KIT_SERVICE_API_KEY.
Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 could not judge, 70 our fault.`;

/** Runs the kit with the arguments of the process, and sets its exit code. */
export async function main(given: readonly string[]): Promise<void> {
  surviveClosedPipes();
  process.on('uncaughtException', (error) => {
    complain(error);
    process.exit();
  });
  const args = joinDashes(given);
  try {
    await parserOf(args).parseAsync();
  } catch (error) {
    complain(error instanceof Misunderstood ? await explained(error.message, args) : error);
  }
}

/** The parser's own complaint, not yet in our words. */
class Misunderstood extends Error {}

function parserOf(args: readonly string[]): Argv {
  return (
    verbs
      .reduce((parser, verb) => parser.command(verb), yargs([...args]))
      .parserConfiguration({
        // `--prompt one URL` must not take the URL for a second prompt.
        'greedy-arrays': false,
        'camel-case-expansion': false,
        'dot-notation': false,
        'populate--': true,
      })
      .middleware((parsed) => checkValues(args, parsed), true)
      .scriptName('sandbox-kit')
      .usage('$0 VERB\n\nCheck, build and try the two sides of an agent evaluation service.')
      .epilogue(EPILOGUE)
      .version(kitVersion())
      .help()
      .alias('help', 'h')
      .wrap(80)
      // Its own exit would come before a full disk is noticed.
      .exitProcess(false)
      .strict()
      .demandCommand(1, 'Say what to do, for example: sandbox-kit demo.')
      .fail((message: string | null, error: Error | undefined) => {
        throw error ?? new Misunderstood(message ?? 'The arguments are wrong.');
      })
  );
}

/** Says in our words what the parser did not understand, and what was meant perhaps. */
async function explained(complaint: string, args: readonly string[]): Promise<UsageError> {
  const commands = verbs.map(({ command }) => String(command));
  const names = commands.map((command) => command.split(' ')[0] ?? '');
  const verb = names.find((name) => name === args.find((arg) => !arg.startsWith('-')));
  const all = `sandbox-kit ${verb === undefined ? '' : `${verb} `}--help lists all`;
  if (complaint.startsWith('Not enough non-option arguments')) {
    const command = commands.find((one) => one.startsWith(`${verb} `)) ?? '';
    const name = (/<(.*)>/.exec(command)?.[1] ?? '').toUpperCase();
    return new UsageError(`${name} is missing: sandbox-kit ${verb} --help shows how`);
  }
  const [, unknown = ''] = /^Unknown (?:argument|command)s?: (.+)/s.exec(complaint) ?? [];
  const [word = '', ...more] = unknown.split(', ');
  if (word === '') return new UsageError(complaint);
  const command = verb === 'exec' ? firstBare([word, ...more], args) : undefined;
  if (command !== undefined) return dashesMissing(command, args);
  const option = args.find((arg) => arg.replace(/^--?/, '').split('=')[0] === word);
  if (option?.startsWith('-')) {
    const [name = ''] = option.split('=');
    const help = await parserOf(verb === undefined ? [] : [verb]).getHelp();
    const options = [...help.matchAll(/--[a-z][a-z-]*/g)].map(([one]) => one);
    return new UsageError(`${name} is no option here: ${suggestion(name, options, all)}`);
  }
  if (verb === undefined) {
    return new UsageError(`${JSON.stringify(word)} is no verb: ${suggestion(word, names, all)}`);
  }
  const isSeed = verb === 'serve' && /\.(ya?ml|json)$/i.test(word);
  const meant = isSeed ? `did you mean --seed-file ${word}?` : all;
  return new UsageError(`${JSON.stringify(word)} is one argument too many: ${meant}`);
}

/** The first of the words that stands among the arguments, and is no option. */
const firstBare = (words: readonly string[], args: readonly string[]): string | undefined =>
  args.find((arg) => !arg.startsWith('-') && words.includes(arg));

/** What follows a verb without `--` before it can't be told from the verb's own arguments. */
function dashesMissing(command: string, args: readonly string[]): UsageError {
  const at = args.indexOf(command);
  const meant = [...args.slice(0, at), '--', ...args.slice(at)].join(' ').slice(0, 200);
  return new UsageError(
    `${JSON.stringify(command)} is no argument here: put -- before the command: sandbox-kit ${meant}`,
  );
}

function complain(error: unknown): void {
  if (error instanceof UsageError) {
    process.stderr.write(`sandbox-kit: ${error.message}\n`);
    process.exitCode = error instanceof OutputLost ? exitCodes.notJudged : exitCodes.usage;
    return;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(
    `sandbox-kit: a fault of the kit itself, please report it:\n${stack ?? ''}\n`,
  );
  process.exitCode = exitCodes.ourFault;
}

await main(hideBin(process.argv));
