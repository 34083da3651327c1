/** All commands, in the order of the help. A command is loaded when it is run or described. */
import type { Command, CommandDefinition, CommandSummary } from '../command.ts';

/** A command that is not loaded yet. */
export interface CommandEntry extends CommandSummary {
  load: () => Promise<Command>;
}

export const commandEntries: readonly CommandEntry[] = [
  entry(
    'check',
    'Check a sandbox against the interface specification',
    async () => (await import('./check.ts')).check,
  ),
  entry(
    'doctor',
    'Diagnose whether a sandbox or service can be reached',
    async () => (await import('./doctor.ts')).doctor,
  ),
  entry(
    'load',
    'Load-test a sandbox, and report whether it meets the targets',
    async () => (await import('./load.ts')).load,
  ),
  entry(
    'simulate',
    'Let simulated users talk to a sandbox, and score the outcome',
    async () => (await import('./simulate.ts')).simulate,
  ),
  entry(
    'scenario',
    'Create a scenario from a production conversation',
    async () => (await import('./scenario.ts')).scenario,
  ),
  entry(
    'init',
    'Create a sandbox that conforms, for your own agent',
    async () => (await import('./init.ts')).init,
  ),
  entry(
    'agent',
    'Run the reference sandbox, or one with faults',
    async () => (await import('./agent.ts')).agent,
  ),
  entry(
    'serve',
    'Run the complete evaluation service',
    async () => (await import('./serve.ts')).serve,
  ),
  entry(
    'migrate',
    'Create or update the tables of a PostgreSQL database',
    async () => (await import('./migrate.ts')).migrate,
  ),
  entry(
    'move',
    'Move the data of a service from a directory to PostgreSQL',
    async () => (await import('./move.ts')).move,
  ),
  entry(
    'exec',
    'Run a command with the service, and optionally an agent',
    async () => (await import('./exec.ts')).exec,
  ),
  entry(
    'lint-traces',
    'Show which spans of a trace request the service would store',
    async () => (await import('./lint-traces.ts')).lintTraces,
  ),
  entry(
    'explain',
    'Explain a requirement, or list all of them',
    async () => (await import('./explain.ts')).explain,
  ),
  entry(
    'grade',
    'Judge a recorded check again, offline',
    async () => (await import('./grade.ts')).grade,
  ),
  entry(
    'resend',
    'Send a request of a run again, and judge the response',
    async () => (await import('./resend.ts')).resend,
  ),
  entry(
    'selftest',
    'Prove that the checks detect every planted fault',
    async () => (await import('./selftest.ts')).selftest,
  ),
  entry(
    'schemas',
    'List the JSON Schemas of all messages, or print one',
    async () => (await import('./schemas.ts')).schemas,
  ),
  entry(
    'demo',
    'Show everything in about 20 seconds, on this machine only',
    async () => (await import('./demo.ts')).demo,
  ),
  entry(
    'completion',
    'Print a script that completes commands in the shell',
    async () => (await import('./completion.ts')).completion,
  ),
];

/** Loads all commands. */
export async function loadCommands(): Promise<Command[]> {
  return Promise.all(commandEntries.map(({ load }) => load()));
}

function entry(
  name: string,
  summary: string,
  load: () => Promise<CommandDefinition>,
): CommandEntry {
  return { name, summary, load: async () => ({ ...(await load()), name, summary }) };
}
