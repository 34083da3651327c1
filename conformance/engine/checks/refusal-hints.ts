import { type Exchange, isAccepted } from '../transcript/reading.ts';

/** What helps against a request that is taken and must not be, by what was edited in it. */
const taken: readonly (readonly [step: RegExp, hint: string])[] = [
  [
    /^duplicate$/,
    'Look the id up before creating it, and refuse one that exists: 409, code user_exists.',
  ],
  [
    /^user_id with a line break$/,
    'In many languages $ also matches before a line break at the end: match the id as a whole.',
  ],
  [
    /^user_id with /,
    'Letters, digits and _ are all that an id may hold: match the whole id, not a part of it.',
  ],
  [/^user_id of 65 /, 'Check the length of the id, too: 64 characters at most.'],
  [/^user_id empty$/, 'Check the length of the id, too: one character at least.'],
  [/^user_id /, 'Check that user_id is there and is a string, and do not convert what is not.'],
  [/^messages /, 'Check that messages is there and is an array.'],
  [/^messages? a /, 'Check that messages is an array of objects.'],
  [/^role /, 'Check the role of every message: system, user or assistant.'],
  [/^content /, 'Check that the content of every message is there and is a string.'],
  [/^body /, 'Check that the body is JSON and an object before anything else.'],
  [/^(none|wrong) key$/, 'Check the key before anything else, on every path of the interface.'],
  [/^no id$/, 'Look for gen_ai.conversation.id in every span before any is kept.'],
  [/^over 10 MB$/, 'Count the bytes while they come in, and stop reading at 10 MB.'],
  [
    /^(text|application)\//,
    'Look at Content-Type first: application/json and application/x-protobuf are all there is.',
  ],
  [/^unknown$/, 'Close only a conversation that spans were sent for; answer 404 for any other.'],
];

/** What helps where a request broke the sandbox that it should have refused. */
const broke: readonly (readonly [step: RegExp, hint: string])[] = [
  [/^duplicate$/, 'Catch the conflict of ids, and answer 409 with code user_exists.'],
  [/^body /, 'Catch the error of the JSON parser, and answer 400.'],
  [/./, 'Validate the body before using it, and answer 400 when it is wrong.'],
];

/** What probably helps where a request was not refused as it must be; nothing where that is open. */
export function refusalHint(one: Exchange): string | undefined {
  const status = one.response?.status ?? 0;
  const of = (rows: typeof taken): string | undefined =>
    rows.find(([step]) => step.test(one.step))?.[1];
  if (isAccepted(one)) return of(taken) ?? 'Validate the body before using it.';
  if (status >= 500 || one.failure?.kind === 'reset') return of(broke);
  if (status === 422) return 'Frameworks answer 422 for a failed validation; map it to 400.';
  if (status === 415 && /^body /.test(one.step)) {
    return 'The content type is application/json; it is the body that is wrong: answer 400.';
  }
  return undefined;
}
