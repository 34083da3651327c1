/** The states of a call. */
import t from 'tap';
import {
  endingResponses,
  isEnding,
  nextStep,
  type CallEvent,
  type CallState,
  type Ending,
} from '../../../reference-agent/voice/call-states.ts';

const states: CallState[] = ['waiting', 'preparing', 'offered', 'connecting', 'talking', 'over'];
const endings = Object.keys(endingResponses) as Ending[];

void t.test('a successful call passes through every state in order', (t) => {
  const events: CallEvent[] = [
    'start_requested',
    'offer_created',
    'answered',
    'connected',
    'end_requested',
  ];
  let state: CallState = 'waiting';
  const actions = events.map((event) => {
    const step = nextStep(state, event);
    state = step?.state ?? state;
    return step?.action;
  });
  t.same(actions, ['create_offer', 'send_offer', 'accept_answer', 'start_media', 'hung_up']);
  t.equal(state, 'over');
  t.end();
});

void t.test('a call can end for any reason in any state, and then stays over', (t) => {
  for (const state of states.slice(0, -1)) {
    for (const ending of endings) {
      t.same(nextStep(state, ending), { state: 'over', action: ending }, `${state}: ${ending}`);
    }
    t.equal(nextStep(state, 'timed_out')?.state, 'over', `${state} has a time limit`);
  }
  const steps: CallEvent[] = [
    'start_requested',
    'answered',
    'offer_created',
    'connected',
    'timed_out',
  ];
  for (const event of [...steps, 'end_requested' as const, ...endings]) {
    t.equal(nextStep('over', event), undefined, event);
  }
  t.end();
});

void t.test('an out-of-turn message ends the call; a late step of the agent does not', (t) => {
  for (const state of states.slice(1, -1)) {
    t.equal(nextStep(state, 'start_requested')?.action, 'out_of_turn', `start_call while ${state}`);
  }
  for (const state of ['waiting', 'preparing', 'connecting', 'talking'] as const) {
    t.equal(nextStep(state, 'answered')?.action, 'out_of_turn', `webrtc_answer while ${state}`);
  }
  t.equal(nextStep('talking', 'connected'), undefined);
  t.equal(nextStep('offered', 'offer_created'), undefined);
  t.end();
});

void t.test('endings use the two error codes of the specification and valid close codes', (t) => {
  for (const ending of endings) {
    const { closeCode, error } = endingResponses[ending];
    if (error) t.match(error.code, /^(connection_failed|audio_error)$/, ending);
    if (closeCode !== undefined) {
      t.ok(closeCode <= 1014 || (closeCode >= 4000 && closeCode < 5000), `${ending}: ${closeCode}`);
    }
    t.ok(isEnding(ending));
  }
  t.notOk(isEnding('create_offer'));
  t.notOk(isEnding('toString' as never));
  t.end();
});
