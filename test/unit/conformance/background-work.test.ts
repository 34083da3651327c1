/** Work that a probe continues while later phases run. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { suiteOf } from '../../../conformance/areas/index.ts';
import { runProbes } from '../../../conformance/engine/drive/run.ts';
import {
  cost,
  type Phase,
  type Probe,
  type ProbeContext,
} from '../../../conformance/engine/probe.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { NOWHERE } from '../../support/network/local-server.ts';

/** Runs a probe, and another one in a later phase. Neither sends a request. Returns what happened. */
async function runWith(
  run: (context: ProbeContext, laterPhase: Promise<undefined>, events: string[]) => Promise<void>,
): Promise<string[]> {
  const events: string[] = [];
  const laterPhase = Promise.withResolvers<undefined>();
  const createProbe = (phase: Phase, run: Probe['run']): Probe => ({
    id: phase,
    area: 'health',
    phase,
    exercises: [],
    cost: cost(0),
    run,
  });
  const probes = [
    createProbe('accepted', (context) => run(context, laterPhase.promise, events)),
    createProbe('after', () => {
      events.push('later phase');
      laterPhase.resolve(undefined);
      return Promise.resolve();
    }),
  ];
  try {
    await runProbes(
      { ...suiteOf({ areas: ['health'] }), probes },
      {
        target: NOWHERE,
        areas: ['health'],
        apiKey: undefined,
        ca: undefined,
        seed: 'background',
        kitVersion: 'test',
        clock: systemClock,
        concurrency: 1,
        rate: undefined,
        timeoutMs: 1_000,
        allowHttp: true,
        prompts: [],
        preflightOnly: false,
        intrusive: false,
        onExchange() {},
      },
    );
    events.push('end');
  } catch (error) {
    events.push(String(error));
  }
  return events;
}

void t.test(
  'later phases start during work in the background, and the run waits for it',
  async (t) => {
    const events = await runWith((context, laterPhase, happened) => {
      const work = async (): Promise<void> => {
        await laterPhase;
        await setImmediate();
        happened.push('work');
      };
      context.continueInBackground(work());
      return Promise.resolve();
    });
    t.same(events, ['later phase', 'work', 'end']);
  },
);

void t.test('work that fails while its probe still runs fails the run at its end', async (t) => {
  const events = await runWith(async (context) => {
    context.continueInBackground(Promise.reject(new Error('no clip')));
    await setImmediate();
  });
  t.same(events, ['later phase', 'Error: no clip']);
});
