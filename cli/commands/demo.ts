import { kitVersion } from '../../library/kit-version.ts';
import { switchOption } from '../../src/options/option.ts';
import { randomSeed } from '../../src/platform/random.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { defineCommand } from '../command.ts';
import { showCall } from '../demo/call.ts';
import { showChat } from '../demo/chat.ts';
import { showCheck } from '../demo/check.ts';
import { showService, startDemoService } from '../demo/service.ts';
import { showSimulation, startSimulations } from '../demo/simulations.ts';
import { exitCodes } from '../errors.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { createRunningServers } from '../runs/running-servers.ts';
import { listenForStop } from '../signals.ts';

/** The most common fault of agents that were written for another interface. */
const MUTANT = 'chat/content-null';

export const demo = defineCommand({
  description: [
    'Runs a sandbox, checks it, breaks it, sends its traces to the service, calls it, and lets simulated users talk to it.',
  ],
  arguments: {},
  options: { keep: switchOption('Keep the servers running until Ctrl-C') },
  examples: [{ command: 'sandbox-kit demo' }, { command: 'sandbox-kit demo --keep' }],
  exitCodes: { 0: 'every step gave the expected result', 1: 'a step did not' },
  async run({ keep }, { process }) {
    const isOk = await runDemo(keep, process);
    return isOk ? exitCodes.ok : exitCodes.findings;
  },
});

async function runDemo(keep: boolean, process: CommandProcess): Promise<boolean> {
  const out = createTerminal(process.stdout, process.env);
  const conformance = await import('../../conformance/index.ts');
  const { startAgent } = await import('../../reference-agent/index.ts');
  const servers = createRunningServers();
  try {
    const agent = servers.add(await startAgent());
    const mutant = servers.add(await conformance.startMutant(MUTANT, agent.url));
    if (!mutant) throw new Error(`unknown mutant ${MUTANT}`);
    const service = servers.add(await startDemoService());
    // The call and the simulations speak for seconds, so they run during the first steps.
    const pendingCall = conformance.checkOneCall({
      target: agent.url,
      kitVersion: kitVersion(),
      seed: randomSeed(),
    });
    const pendingSimulations = await startSimulations(agent.url);
    writeHeading(out, 1, `A sandbox listens at ${agent.url}`);
    await showChat(agent.url, out);

    writeHeading(out, 2, 'Check the sandbox over the network');
    const verdict = await showCheck(conformance, agent.url, { out, keep });

    writeHeading(out, 3, `Check the same sandbox with a fault: ${toPhrase(mutant.description)}`);
    const mutantVerdict = await showCheck(conformance, mutant.url, { out, keep });
    if (!keep) writeMutantCommand(out);

    writeHeading(out, 4, `Send traces to the service at ${service.url}`);
    const isScored = await showService(service, agent.url, { out, keep });

    writeHeading(out, 5, `Call the sandbox at ${agent.voiceUrl ?? agent.url}`);
    const isCallOk = showCall(await pendingCall, out);

    writeHeading(out, 6, 'Let simulated users with a goal talk to it');
    const simulationsPassed = [];
    for (const simulation of pendingSimulations)
      simulationsPassed.push(showSimulation(await simulation, out));

    const isJudged = verdict === 'conforming' && mutantVerdict === 'not-conforming';
    const isOk = isJudged && isScored && isCallOk && simulationsPassed.every((passed) => passed);
    const result = isOk
      ? out.style('green', 'Every step gave the expected result.')
      : out.style('red', 'A step did not give the expected result.');
    out.write(`\n${result}\n`);
    out.write(
      keep
        ? describeServers(
            { agent: agent.url, mutant: mutant.url, admin: service.adminUrl },
            out.program,
          )
        : describeNextSteps(out.program),
    );
    if (keep) await listenForStop(process).received;
    return isOk;
  } finally {
    await servers.stop();
  }
}

/** Shows how to start a sandbox with the fault, because the one of the demo ends with it. */
function writeMutantCommand(out: Terminal): void {
  out.write('   This sandbox ends with the demo. To start one that keeps running:\n');
  out.write(`     ${out.program} agent --mutant ${MUTANT}\n`);
}

function writeHeading(out: Terminal, number: number, title: string): void {
  const [first = '', ...rest] = wrap(title, out.width - 3);
  const lines = [`${number}  ${first}`, ...rest.map((line) => `   ${line}`)];
  out.write(`\n${lines.map((line) => out.style('bold', line)).join('\n')}\n`);
}

const toPhrase = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

const nextSteps: readonly (readonly [command: string, effect: string])[] = [
  ['check URL', 'Check your sandbox'],
  ['agent', 'Start a sandbox to build against'],
  ['simulate URL', 'Let simulated users talk to your sandbox'],
  ['serve', 'Run the service on this machine'],
  ['selftest', 'Prove that the checks detect every planted fault'],
  ['explain', 'List every requirement'],
];

function describeNextSteps(program: string): string {
  const width = Math.max(...nextSteps.map(([command]) => command.length));
  const lines = nextSteps.map(
    ([command, effect]) => `  ${program} ${command.padEnd(width)}  ${effect}\n`,
  );
  return `Next steps:\n${lines.join('')}`;
}

function describeServers(
  urls: { agent: string; mutant: string; admin: string },
  program: string,
): string {
  return `The servers run until Ctrl-C:
  ${urls.agent}/health               health of the sandbox
  ${urls.agent}/__admin/requests     requests to the sandbox
  ${urls.admin}/ingest-log   ingest log of the service
  ${program} check ${urls.mutant}   check of the sandbox with a fault
`;
}
