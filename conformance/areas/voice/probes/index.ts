import { PREFLIGHT } from '../../../engine/transcript/reading.ts';
import {
  isOpened,
  NO_SUCH_PATH,
  refusedAsUnknown,
  UPGRADE,
} from '../../../engine/transcript/call-messages.ts';
import type { CallLine, CallMessage } from '../../../engine/drive/call/script.ts';
import { cost, type Probe } from '../../../engine/probe.ts';
import { place, voiceCalls } from './calls.ts';
import { voiceRefusals } from './refusals.ts';
import { calling, fullStart, minimalStart, READY_MS_MAX } from './steps.ts';

const probe: Probe = {
  id: PREFLIGHT,
  area: 'voice',
  phase: 'preflight',
  exercises: ['VOICE-001', 'VOICE-002', 'VOICE-003'],
  cost: cost(1, 0, 0, 1),
  async run(context) {
    const answer = await context.send(calling(UPGRADE, 'valid'));
    if (!answer || isOpened(answer) || answer.failure?.kind === 'refused') return;
    const path = answer.request.path.replace(/[^/]*$/, `sandbox-kit-${context.random.id(8)}`);
    const other = await context.send({ ...calling(NO_SUCH_PATH, 'open'), path });
    context.voice.refused = refusedAsUnknown([answer, ...(other ? [other] : [])]);
  },
};

/** Asks for a call, and hangs up once there is an offer. */
const asking =
  (start: CallMessage) =>
  async (line: CallLine): Promise<void> => {
    line.send(start);
    await line.next(['call_ready', 'error'], READY_MS_MAX);
  };

/** The forms of `start_call`, each in a call of its own, one after the other. */
const forms: Probe = {
  id: 'voice/forms',
  area: 'voice',
  phase: 'accepted',
  exercises: [
    ...(['VOICE-010', 'VOICE-011', 'VOICE-012', 'VOICE-014', 'VOICE-015', 'VOICE-016'] as const),
    ...(['VOICE-020', 'VOICE-021', 'VOICE-022', 'VOICE-023', 'VOICE-024', 'VOICE-025'] as const),
    ...(['VOICE-026', 'VOICE-027', 'VOICE-050', 'VOICE-051', 'VOICE-052', 'VOICE-053'] as const),
    ...(['VOICE-054', 'VOICE-055', 'VOICE-056', 'VOICE-057', 'VOICE-058', 'VOICE-059'] as const),
    ...(['VOICE-062', 'VOICE-063'] as const),
  ],
  cost: cost(5, 0, 0, 5),
  async run(context) {
    if (context.voice.absent) return;
    const { user_id: _user, ...withoutUser } = fullStart(context);
    const { session_id: _session, ...withoutSession } = fullStart(context);
    const { type, metadata } = fullStart(context);
    const starts: [step: string, start: CallMessage][] = [
      ['minimal', minimalStart],
      ['full', fullStart(context)],
      ['without user_id', withoutUser],
      ['without session_id', withoutSession],
      ['only metadata', { type, metadata }],
    ];
    for (const [step, start] of starts) await context.send(calling(step, 'valid', asking(start)));
  },
};

/** What a call is like after all that was refused, and how the sandbox is. */
const after: Probe = {
  id: 'voice/after',
  area: 'voice',
  phase: 'after',
  exercises: ['VOICE-081', 'VOICE-082', 'VOICE-083'],
  needs: ['voice/forms', 'voice/silences'],
  cost: cost(2, 0, 0, 1),
  async run(context) {
    if (context.voice.absent) return;
    await place(
      context,
      calling('after all', 'valid', async (line) => {
        line.send(fullStart(context));
        const ready = await line.next(['call_ready', 'error'], READY_MS_MAX);
        if (ready?.['type'] === 'call_ready' && context.voice.media === 'flows') {
          await line.connect(ready);
        }
      }),
    );
    await context.send({ endpoint: 'health', step: 'after calls', intent: 'valid' });
  },
};

/** The scenarios of the voice WebSocket. */
export const voiceScenarios: readonly Probe[] = [
  probe,
  forms,
  ...voiceCalls,
  ...voiceRefusals,
  after,
];
