/** The eval that compares the agent's speech with its text. */
import t from 'tap';
import type { HeardReplies } from '../../../../src/contract/index.ts';
import { scoreSession } from '../../../../src/service/scoring/eval-kinds.ts';

const clear: HeardReplies = {
  words: 40,
  errors: 2,
  word_error_rate: 0.05,
  replies: [],
  not_compared: [],
  missed: [{ turn: 2, kind: 'amount', text: '$42.50' }],
};

/** The parameters, what differs from a clear call, the outcome, and its reasoning. */
const CASES: [object, Partial<HeardReplies> | undefined, 'pass' | 'fail' | 'error', RegExp][] = [
  [{ max: 0.05 }, {}, 'pass', /at most 5%: 2 of 40 words \(5%\); said but not heard: amount "\$42/],
  [{ max: 0.049 }, {}, 'fail', /at most 4\.9%: 2 of 40 words/],
  [{ max: 0.05, missed_max: 1 }, {}, 'pass', /2 of 40 words/],
  [{ max: 0.05, missed_max: 0 }, {}, 'fail', /said but not heard: amount "\$42\.50"\./],
  [{ max: 0 }, { errors: 0, word_error_rate: 0, missed: [] }, 'pass', /0 of 40 words \(0%\)\./],
  [{ max: 0.1 }, { not_compared: [{ turn: 1, reason: 'interrupted' }] }, 'pass', /2 of 40/],
  [
    { max: 0.1 },
    { not_compared: [{ turn: 3, reason: 'not_transcribed' }] },
    'error',
    /no transcription of turn 3; see the notes/,
  ],
  [{ max: 0.1 }, { words: 0, errors: 0, word_error_rate: null }, 'error', /no reply to compare/],
  [{ max: 0.1 }, undefined, 'error', /Nothing was transcribed\. Set SANDBOX_KIT_TRANSCRIBE_URL/],
];

for (const [params, changes, outcome, reasoning] of CASES) {
  const name = `${JSON.stringify(params)}, ${JSON.stringify(changes)}: ${outcome}`;
  void t.test(name, async (t) => {
    const definition = {
      id: 'e',
      name: 'E',
      kind: 'heard_word_error_rate_max' as const,
      params: { ...params },
    };
    const session = {
      sessionId: 's',
      turns: [],
      ...(changes && { heard: { ...clear, ...changes } }),
    };
    const { signal } = new AbortController();
    const score = await scoreSession(definition, session, undefined, signal);
    t.match(score, { outcome, reasoning });
  });
}
