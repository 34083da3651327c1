import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { valueAt } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { systemClock } from '../../platform/clock.ts';
import * as flags from '../flags/flags.ts';
import { kitVersion } from '../kit-version.ts';
import { untilStopped } from '../signals.ts';
import { terminalOf, type Terminal } from '../output/terminal.ts';
import { exitCodes } from '../flags/usage-error.ts';

const demoFlags = z.object({ keep: z.boolean() });

/** The fault of the demo: the commonest one, of agents that were made for another interface. */
const MUTANT = 'chat/content-null';
/** What is checked in a moment; of voice the demo shows a call. */
const TEXT_AREAS = ['chat', 'health', 'users'] as const;
const QUESTION = 'Where is my order A-1001?';

/** `sandbox-kit demo`: all of it in one go; exit 0 when all held. */
export const demoVerb: CommandModule = {
  command: 'demo',
  describe: 'See all of it in one go, on this machine alone',
  builder: (yargs) =>
    yargs
      .usage(
        'sandbox-kit demo\n\nRuns a sandbox, checks it, breaks it, calls it, talks to it and scores it.',
      )
      .option('keep', { type: 'boolean', default: false, describe: 'leave the servers up' })
      .epilogue(`Examples:
  sandbox-kit demo
  sandbox-kit demo --keep  look around afterwards, with the links that it shows`),
  handler: async (argv) => {
    const { keep } = flags.parseFlags(demoFlags, argv);
    const held = await demo(keep, terminalOf(process.stdout));
    process.exitCode = held ? exitCodes.fine : exitCodes.findings;
  },
};

async function demo(keep: boolean, out: Terminal): Promise<boolean> {
  const judge = await import('../../../conformance/index.ts');
  const { startAgent } = await import('../../../reference-agent/index.ts');
  const agent = await startAgent();
  const mutant = await judge.startMutant(MUTANT, agent.url);
  if (!mutant) throw new Error(`there is no mutant ${MUTANT}`);
  const { callSandbox, tellCall } = await import('./demo-call.ts');
  const { startDemoService, tellTheService } = await import('./demo-service.ts');
  const { simulateBoth, tellSimulation } = await import('./demo-simulation.ts');
  const service = await startDemoService();
  try {
    // A call takes as long as it takes to speak: meanwhile there is something to see.
    const calling = callSandbox(judge, agent.url);
    const simulating = await simulateBoth(agent.url);
    chapter(out, 1, `A sandbox that obeys the interface listens at ${agent.url}`);
    await talk(agent.url, out);

    chapter(out, 2, 'The judge checks it over the network');
    const good = await checked(judge, agent.url, out);

    chapter(out, 3, `The same sandbox with one fault: it ${lowered(mutant.description)}`);
    const bad = await checked(judge, mutant.url, out);

    chapter(out, 4, `The service takes in what the sandbox said, at ${service.url}`);
    const scored = await tellTheService(service, agent.url, { out, keep });

    chapter(out, 5, `The judge has called it, at ${agent.voiceUrl ?? agent.url}`);
    const heard = tellCall(await calling, out);

    chapter(out, 6, 'Simulated users with a goal talk to it, and evals score what it says');
    const talks = [];
    for (const one of simulating) talks.push(tellSimulation(await one, out));

    const isJudged = good === 'conforming' && bad === 'not-conforming';
    const held = isJudged && scored && heard && talks.every((passed) => passed);
    out.write(`\n${held ? out.style('green', 'All held.') : out.style('red', 'Not all held.')}\n`);
    out.write(nextSteps(keep, { agent: agent.url, mutant: mutant.url, service: service.adminUrl }));
    if (keep) await untilStopped();
    return held;
  } finally {
    await service.stop();
    await mutant.stop();
    await agent.stop();
  }
}

function chapter(out: Terminal, number: number, title: string): void {
  out.write(`\n${out.style('bold', `${number}  ${title}`)}\n`);
}

const lowered = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

/** One turn of a conversation, as a simulated user has it. */
async function talk(url: string, out: Terminal): Promise<void> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: QUESTION }], session_id: 'demo' }),
  });
  const reply: unknown = await answer.json();
  const message = '/choices/0/message';
  const tool = valueAt(reply, `${message}/tool_calls/0/function/name`);
  out.write(`   user   ${QUESTION}\n`);
  if (typeof tool === 'string') out.write(`   tool   ${out.style('dim', tool)}\n`);
  out.write(`   agent  ${String(valueAt(reply, `${message}/content`))}\n`);
}

type Judge = typeof import('../../../conformance/index.ts');

/** Checks a sandbox and says in short what came of it: the verdict, and each failure. */
async function checked(judge: Judge, target: string, out: Terminal): Promise<string> {
  const startedMs = systemClock.monotonicMs();
  const { report } = await judge.check({
    target,
    kitVersion: kitVersion(),
    seed: randomSeed(),
    areas: TEXT_AREAS,
  });
  const tookMs = systemClock.monotonicMs() - startedMs;
  const brief = {
    ...report,
    dialect: {},
    waived: [],
    requirements: report.requirements.filter(({ verdict }) => ['fail', 'warn'].includes(verdict)),
  };
  const text = judge.terminalReport(brief, { style: out.style, width: out.width - 3, tookMs });
  out.write(text.replaceAll(/^(?=.)/gm, '   '));
  return report.verdict;
}

/** The addresses that stay up with --keep. */
interface Kept {
  agent: string;
  mutant: string;
  service: string;
}

function nextSteps(keep: boolean, { agent, mutant, service }: Kept): string {
  if (keep) {
    return [
      'The servers stay up until Ctrl-C:',
      `  ${agent}/health               the sandbox`,
      `  ${agent}/__admin/requests     what it was asked`,
      `  ${service}/ingest-log   what the service noticed`,
      `  sandbox-kit check ${mutant}   the broken twin`,
      '',
    ].join('\n');
  }
  return [
    'Next:',
    '  sandbox-kit check URL      check a sandbox of yours',
    '  sandbox-kit agent          a sandbox to build against',
    '  sandbox-kit simulate URL   users with a goal; --voice: by phone',
    '  sandbox-kit serve          the service on this machine',
    '  sandbox-kit selftest       see every fault that the judge catches',
    '  sandbox-kit explain        see every requirement',
    '',
  ].join('\n');
}
