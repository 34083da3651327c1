import { cost } from '../../../engine/probe.ts';
import type { SandboxProbe } from '../../sandbox-state.ts';
import { PREFLIGHT } from '../../../engine/transcript/reading.ts';
import {
  isOpened,
  NO_SUCH_PATH,
  findUnknownPathRefusal,
  UPGRADE,
} from '../../../engine/transcript/call-messages.ts';
import { placeCall, mediaProbes } from './calls.ts';
import { forms } from './forms.ts';
import { silences, refusalProbes } from './refusals.ts';
import { callStep, createFullStart, READY_MS_MAX } from '../steps.ts';

const probe: SandboxProbe = {
  id: PREFLIGHT,
  area: 'voice',
  phase: 'preflight',
  exercises: ['VOICE-001', 'VOICE-002', 'VOICE-003'],
  cost: cost(1, 0, 0, 1),
  async run(context) {
    const answer = await context.send(callStep(UPGRADE, 'valid'));
    if (!answer || isOpened(answer) || answer.failure?.kind === 'refused') return;
    const path = answer.request.path.replace(/[^/]*$/, `sandbox-kit-${context.random.id(8)}`);
    const other = await context.send({ ...callStep(NO_SUCH_PATH, 'open'), path });
    context.voice.refused = findUnknownPathRefusal([answer, ...(other ? [other] : [])]);
  },
};

/** What a call is like after all that was refused, and how the sandbox is. */
const after: SandboxProbe = {
  id: 'voice/after',
  area: 'voice',
  phase: 'after',
  exercises: ['VOICE-081', 'VOICE-082', 'VOICE-083'],
  needs: [forms, silences],
  cost: cost(2, 0, 0, 1),
  async run(context) {
    if (context.voice.absent) return;
    await placeCall(
      context,
      callStep('after all', 'valid', async (line) => {
        line.send(createFullStart(context));
        const ready = await line.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
        if (ready?.['type'] === 'call_ready' && context.voice.media === 'flows') {
          await line.connect(ready);
        }
      }),
    );
    await context.send({ endpoint: 'health', step: 'after calls', intent: 'valid' });
  },
};

/** The scenarios of the voice WebSocket. */
export const voiceProbes: readonly SandboxProbe[] = [
  probe,
  forms,
  ...mediaProbes,
  ...refusalProbes,
  after,
];
