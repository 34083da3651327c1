import { conversations } from '../close/probes.ts';
import { resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { cost } from '../../../engine/probe.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import {
  ownerNames,
  type OwnerName,
  type ServiceProbe,
  type ServiceProbeContext,
} from '../context.ts';
import { seedOwner, uploadedTranscript } from '../seeds.ts';
import { createControlStep, createResultsStep, drain, ownerQuery } from '../requests.ts';
import { SEEDED_KEY_STEP } from '../transcript.ts';

/** Looks for a control API and, if there is one, creates the owners of the run. */
export const controlSetup: ServiceProbe = {
  id: 'service/control',
  area: 'service',
  phase: 'preflight',
  cost: cost(ownerNames.length + 4),
  async run(context) {
    const health = await context.send(createControlStep('health', '/health', undefined, 'GET'));
    // A single-page application returns HTML for every path, so the body must be JSON.
    if (!health || !isAccepted(health) || !isObject(health.json)) return;
    const { service } = context;
    service.hasControlApi = true;
    const isCreated = await Promise.all(ownerNames.map((name) => createOwner(context, name)));
    // A service that responds to unknown paths with JSON and 200 has not created the owners.
    const read = isCreated.every(Boolean)
      ? await context.send({
          ...createResultsStep(context, 'production', SEEDED_KEY_STEP),
          intent: 'open',
        })
      : undefined;
    service.hasControlApi = read !== undefined && isAccepted(read);
    if (!service.hasControlApi) return;
    const evalPath = `/evals/parcel${ownerQuery(service, 'deleted')}`;
    const uploadPath = `/transcripts${ownerQuery(service, 'main')}`;
    await Promise.all([
      context.send(createControlStep('delete an eval', evalPath, undefined, 'DELETE')),
      context.send(createControlStep('upload', uploadPath, uploadedTranscript(service))),
    ]);
  },
};

async function createOwner(context: ServiceProbeContext, name: OwnerName): Promise<boolean> {
  const { service } = context;
  const keys = [
    service.keyFor(name),
    // Each key has its own rate limit, even if the owner is the same, and sees the same sessions.
    ...(name === 'rate' || name === 'main' ? [service.secondKeyFor(name)] : []),
  ].flatMap(({ key }) => (typeof key === 'object' ? [{ key: key.own }] : []));
  if (keys.length === 0) return false;
  const document = { keys, ...seedOwner(service, name) };
  const path = `/seed${ownerQuery(service, name)}`;
  const response = await context.send(createControlStep(`make ${name}`, path, document));
  return response !== undefined && isAccepted(response);
}

/** Reads the service's ingest log, for people who study a recording. No check uses it. */
export const ingestLog: ServiceProbe = {
  id: 'service/log',
  area: 'service',
  phase: 'after',
  needs: [conversations],
  cost: cost(1),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    const path = `/ingest-log${ownerQuery(service, 'main')}`;
    await context.send(createControlStep('ingest log', path, undefined, 'GET'));
  },
};

/** The step that sets the service clock back to real time. */
export const CLOCK_RESET_STEP = 'clock put back';

/**
 * Sets the service clock back by as much as the run advanced it, and keeps any other offset. It also
 * runs after an interruption.
 */
export const clockReset: ServiceProbe = {
  id: 'service/clock',
  area: 'service',
  phase: 'end',
  intrusive: true,
  cleansUp: true,
  cost: cost(3),
  async run(context) {
    const { service } = context;
    if (service.clockAdvancedMs === 0) return;
    // Scoring that is due now would otherwise be due a day after the reset.
    await drain(context);
    const clock = await context.send(
      createControlStep('clock as moved', '/clock', undefined, 'GET'),
    );
    const nowMs = resolvePointer(clock?.json, '/now_ms');
    if (typeof nowMs !== 'number') return;
    const resetMs = nowMs - service.clockAdvancedMs;
    await context.send(createControlStep(CLOCK_RESET_STEP, '/clock', { set_ms: resetMs }, 'PUT'));
  },
};
