/**
 * Measures what simulated calls take: CPU time of the service and of the agent, and bytes of the
 * recordings. Usage: `node bench/calls.ts [CALLS] [CONCURRENCY]` (default: 40 and 20; a minute).
 *
 * The service, in this process, calls the reference agent, in another one. It stores a recording of
 * each call.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startAgent } from '../reference-agent/index.ts';
import type { Scenario, Simulation } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { startService } from '../src/service/index.ts';
import { readChildCpuMicros, readCpuMicros, reportCpuTime } from './cpu-time.ts';
import { describeMachine } from './machine.ts';
import { post } from './post.ts';

const scenario: Scenario = {
  id: 'bench',
  name: 'Talks for four turns',
  user: {
    opening: 'Hello, where is my order A-1001?',
    steps: ['And when does it arrive?', 'Can I change the address?', 'Thank you, that is all.'].map(
      (say) => ({ say }),
    ),
  },
  evals: [{ id: 'brief', name: 'Brief', kind: 'max_turns', params: { max: 6 } }],
};

async function run(calls: number, concurrency: number): Promise<void> {
  const agent = fork(import.meta.filename, ['agent']);
  const [urls] = (await once(agent, 'message')) as [{ url: string; voice_url: string }];
  const service = await startService();
  await post(`${service.adminUrl}/agents`, { id: 'shop', name: 'Shop', ...urls });
  const before = [readCpuMicros(), await readChildCpuMicros(agent)] as const;
  const startedMs = systemClock.monotonicMs();
  const created = await post(`${service.adminUrl}/simulations`, {
    agent: 'shop',
    seed: 'bench',
    channel: 'voice',
    concurrency,
    scenarios: [{ ...scenario, samples: calls }],
  });
  const { id } = (await created.json()) as { id: string };
  await service.drain();
  const elapsedS = (systemClock.monotonicMs() - startedMs) / 1_000;
  const [serviceMicros, agentMicros] = [
    readCpuMicros() - before[0],
    (await readChildCpuMicros(agent)) - before[1],
  ] as const;
  const simulation = (await (
    await fetch(`${service.adminUrl}/simulations/${id}`)
  ).json()) as Simulation;
  let [callS, recordedBytes, recorded] = [0, 0, 0];
  for (const session of simulation.sessions) {
    callS += (Date.parse(session.ended_at ?? '') - Date.parse(session.started_at ?? '')) / 1_000;
    const response = await fetch(`${service.url}/recordings/${session.id}`);
    const audio = await response.arrayBuffer();
    if (!response.ok) continue;
    recorded += 1;
    recordedBytes += audio.byteLength;
  }
  const reasons = Map.groupBy(simulation.sessions, ({ end_reason: reason }) => String(reason));
  console.log(describeMachine());
  console.log(`${calls} calls, ${(callS / elapsedS).toFixed(1)} at the same time on average`);
  console.log(Array.from(reasons, ([reason, ended]) => `${reason}: ${ended.length}`).join(', '));
  console.log(`a call takes ${(callS / calls).toFixed(1)} s`);
  const percentOfCore = (micros: number): string =>
    `${((100 * micros) / 1e6 / callS).toFixed(2)} %`;
  console.log(`CPU of the service ${percentOfCore(serviceMicros)} of a core per call`);
  console.log(`CPU of the agent ${percentOfCore(agentMicros)} of a core per call`);
  console.log(`recording ${((60 * recordedBytes) / callS / 1_000).toFixed(0)} kB per minute`);
  console.log(`${recorded} recordings, ${(recordedBytes / recorded / 1_000).toFixed(1)} kB each`);
  await service.stop();
  agent.kill();
}

const [command = '40', concurrency = '20'] = process.argv.slice(2);
if (command === 'agent') {
  const agent = await startAgent();
  reportCpuTime();
  process.send?.({ url: agent.url, voice_url: agent.voiceUrl });
} else await run(Number(command), Number(concurrency));
