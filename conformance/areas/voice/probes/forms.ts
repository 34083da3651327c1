import { cost } from '../../../engine/probe.ts';
import type { Call, CallMessage } from '../../../engine/drive/call/script.ts';
import type { SandboxProbe } from '../../sandbox-state.ts';
import { callStep, createFullStart, minimalStart, READY_MS_MAX } from '../steps.ts';

/** Asks for a call, and hangs up once there is an offer. */
const asking =
  (start: CallMessage) =>
  async (line: Call): Promise<void> => {
    line.send(start);
    await line.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
  };

/** The forms of `start_call`, each in a call of its own, one after the other. */
export const forms: SandboxProbe = {
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
    const { user_id: _user, ...withoutUser } = createFullStart(context);
    const { session_id: _session, ...withoutSession } = createFullStart(context);
    const { type, metadata } = createFullStart(context);
    const starts: [step: string, start: CallMessage][] = [
      ['minimal', minimalStart],
      ['full', createFullStart(context)],
      ['without user_id', withoutUser],
      ['without session_id', withoutSession],
      ['only metadata', { type, metadata }],
    ];
    for (const [step, start] of starts) await context.send(callStep(step, 'valid', asking(start)));
  },
};
