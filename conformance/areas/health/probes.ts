import type { SandboxProbe } from '../sandbox-state.ts';
import { cost, type Step, stepsOf } from '../../engine/probe.ts';
import { claimsVoice } from '../../engine/transcript/call-messages.ts';
import { isNotFound, PREFLIGHT } from '../../engine/transcript/reading.ts';

/** Shows whether chat is unknown, too. Without a message, no request reaches a model. */
const anotherPath = {
  endpoint: 'chat',
  step: 'another path',
  intent: 'open',
  body: { json: { messages: [] } },
} as const satisfies Step;

/** The steps of health requests. */
export type HealthStep = 'plain' | 'with Accept' | 'during chat' | 'after refusals';

/** Creates a predicate for the exchanges of some steps: `isHealthStep('plain')(exchange)`. */
export const isHealthStep = stepsOf<HealthStep>('health');

type HealthProbe = Omit<SandboxProbe, 'exercises'>;

const get = (step: HealthStep, headers: Record<string, string> = {}): Step<HealthStep> => ({
  endpoint: 'health',
  step,
  intent: 'valid',
  headers,
});

const preflight: HealthProbe = {
  id: PREFLIGHT,
  area: 'health',
  phase: 'preflight',
  // A report may be invalid only before the first chat request, for example a mean of no latencies.
  goesFirst: true,
  // Distinguishes a sandbox from an address where nothing responds.
  alsoFor: ['chat', 'users', 'voice'],
  cost: cost(1),
  async run(context) {
    const plain = await context.send(get('plain'));
    if (plain && claimsVoice(plain)) context.voice.isClaimed = true;
    // A run of other areas sends more requests, which show whether only this path is unknown.
    if (plain && isNotFound(plain) && context.areas.join() === 'health') {
      await context.send(anotherPath);
    }
  },
};

const forms: HealthProbe = {
  id: 'health/forms',
  area: 'health',
  phase: 'accepted',
  cost: cost(1),
  async run(context) {
    await context.send(get('with Accept', { accept: 'application/json' }));
  },
};

const during: HealthProbe = {
  id: 'health/during',
  area: 'health',
  phase: 'refused',
  cost: cost(1),
  async run(context) {
    await context.send(get('during chat'));
  },
};

const after: HealthProbe = {
  id: 'health/after',
  area: 'health',
  phase: 'after',
  cost: cost(1),
  async run(context) {
    await context.send(get('after refusals'));
  },
};

/** The probes of `GET /health`. */
export const healthProbes: readonly HealthProbe[] = [preflight, forms, during, after];
