import type { EvalDefinition } from '../../../contract/index.ts';

/** The kind of an eval. */
export type EvalKind = EvalDefinition['kind'];

/** A field of the form of an eval. */
export interface EvalField {
  /** JSON pointer to its place in the definition; also the name of the form field. */
  pointer: string;
  label: string;
  /** What to enter, and an example. */
  hint?: string;
  /** `json` is any JSON value, `lines` a list of texts, and `flag` a checkbox. */
  input: 'line' | 'text' | 'number' | 'json' | 'lines' | 'flag' | 'choice';
  /** The values of a choice with their names; the first is the default. */
  choices?: readonly (readonly [value: string, name: string])[];
  /** Whether the field may be empty. */
  isOptional?: boolean;
  /** Replaces the description of the schema in messages: "must be …". */
  expected?: string;
}

/** A kind of evals, as the editor shows it. */
interface KindOfEval {
  name: string;
  /** Completes the sentence "The eval passes if …". */
  passesIf: string;
  fields: readonly EvalField[];
}

const speaker: EvalField = {
  pointer: '/params/in',
  label: 'In the messages of',
  input: 'choice',
  choices: [
    ['agent', 'the agent'],
    ['user', 'the user'],
    ['any', 'both'],
  ],
};

/** Which messages a search covers, and whether it should find something. */
const searchFields: readonly EvalField[] = [
  speaker,
  {
    pointer: '/params/turn',
    label: 'Only in turn',
    hint: '1 is the first turn; in a simulated session, the first line of the scenario with all turns until the second. Leave it empty to search all turns.',
    input: 'number',
    isOptional: true,
  },
  { pointer: '/params/absent', label: 'Passes if no message has it', input: 'flag' },
];

const toolName: EvalField = {
  pointer: '/params/name',
  label: 'Name of the tool',
  hint: 'Exactly as in the trace, for example look_up_order.',
  input: 'line',
};

const expectedValue: EvalField = {
  pointer: '/params/equals',
  label: 'Expected value',
  hint: 'JSON: a text in quotes such as "shipped", or 3, true, null, a list, or an object.',
  input: 'json',
};

const ONLY_CALLS = 'Only simulated calls have turn-taking: this eval errors for others.';

/** All kinds of evals. A kind that is in the schema and not here does not compile. */
export const evalKinds: Readonly<Record<EvalKind, KindOfEval>> = {
  contains: {
    name: 'Contains a text',
    passesIf: 'a message contains the text',
    fields: [
      { pointer: '/params/text', label: 'Text', input: 'text' },
      ...searchFields,
      {
        pointer: '/params/case_sensitive',
        label: 'Distinguish upper and lower case',
        input: 'flag',
      },
    ],
  },
  regex: {
    name: 'Matches a regular expression',
    passesIf: 'a message matches the regular expression',
    fields: [
      {
        pointer: '/params/pattern',
        label: 'Regular expression',
        hint: 'JavaScript syntax without slashes, for example order [A-Z]-\\d+.',
        input: 'line',
      },
      {
        pointer: '/params/flags',
        label: 'Flags',
        hint: 'i ignores case, m makes ^ and $ match at each line, s makes . match line ends, u is for Unicode.',
        input: 'line',
        isOptional: true,
        expected: 'a text of the letters i, m, s, and u',
      },
      ...searchFields,
    ],
  },
  tool_called: {
    name: 'Calls a tool',
    passesIf: 'the agent calls the tool',
    fields: [toolName],
  },
  tool_args: {
    name: 'Calls a tool with arguments',
    passesIf: 'a call of the tool has at least these arguments',
    fields: [
      toolName,
      {
        pointer: '/params/arguments',
        label: 'Arguments',
        hint: 'A JSON object, for example {"order_id": "A-1001"}. A call may have more arguments.',
        input: 'json',
      },
    ],
  },
  tool_order: {
    name: 'Calls tools in an order',
    passesIf: 'the agent calls the tools in this order, possibly with others in between',
    fields: [
      {
        pointer: '/params/names',
        label: 'Names of the tools',
        hint: 'One per line.',
        input: 'lines',
        expected: 'a list of at least one name',
      },
    ],
  },
  max_turns: {
    name: 'Is short',
    passesIf:
      'the conversation has at most this number of turns, not counting interruptions by the user',
    fields: [{ pointer: '/params/max', label: 'Maximum number of turns', input: 'number' }],
  },
  max_latency: {
    name: 'Is fast',
    passesIf: 'no turn takes longer',
    fields: [
      {
        pointer: '/params/ms',
        label: 'Maximum latency of a turn, in milliseconds',
        hint: 'Uploaded transcripts have no latency: this eval errors for them.',
        input: 'number',
      },
    ],
  },
  yields_within_ms: {
    name: 'Stops when interrupted',
    passesIf: 'the agent stops within this time whenever the user interrupts it',
    fields: [
      {
        pointer: '/params/ms',
        label: 'Maximum time to stop, in milliseconds',
        hint: ONLY_CALLS,
        input: 'number',
      },
    ],
  },
  never_interrupts: {
    name: 'Never interrupts',
    passesIf: 'the agent never starts to speak while the user speaks',
    fields: [],
  },
  responds_within_ms: {
    name: 'Responds quickly in calls',
    passesIf: 'every reply starts within this time after the line of the user',
    fields: [
      {
        pointer: '/params/ms',
        label: 'Maximum time to the first sound, in milliseconds',
        hint: ONLY_CALLS,
        input: 'number',
      },
    ],
  },
  no_false_endpoint: {
    name: 'Waits while the user pauses',
    passesIf: 'the agent never mistakes a pause within a line of the user for its end',
    fields: [],
  },
  no_dead_air: {
    name: 'Leaves no dead air',
    passesIf: 'both sides are never silent for longer than this time',
    fields: [
      {
        pointer: '/params/ms',
        label: 'Maximum silence, in milliseconds',
        hint: `At least 2000. Leave it empty for 2000. ${ONLY_CALLS}`,
        input: 'number',
        isOptional: true,
      },
    ],
  },
  heard_word_error_rate_max: {
    name: 'Says what it wrote',
    passesIf: 'the speech of the agent in a call matches its text',
    fields: [
      {
        pointer: '/params/max',
        label: 'Maximum word error rate',
        hint: `Between 0 and 1: 0.1 is one word in ten. Needs SANDBOX_KIT_TRANSCRIBE_URL. ${ONLY_CALLS}`,
        input: 'number',
      },
      {
        pointer: '/params/missed_max',
        label: 'Maximum number of dates, amounts, codes, numbers, and names that were not heard',
        hint: 'Leave it empty for any number.',
        input: 'number',
        isOptional: true,
      },
    ],
  },
  no_repetition: {
    name: 'Does not repeat itself',
    passesIf: 'no reply repeats an earlier reply or the line of the user',
    fields: [],
  },
  json_path: {
    name: 'Has a value at a path',
    passesIf: 'the value at the path in the conversation equals the expected one',
    fields: [
      {
        pointer: '/params/path',
        label: 'Path',
        hint: 'For example $.turns[-1].agent_response or $.turns[*].tool_calls[*].name.',
        input: 'line',
      },
      expectedValue,
    ],
  },
  evaluation_metadata: {
    name: 'Has an evaluation hint',
    passesIf: 'the evaluation metadata of a turn has the value under the key',
    fields: [
      {
        pointer: '/params/key',
        label: 'Key',
        hint: 'A key of evaluation_metadata in the response of the agent, for example order_found.',
        input: 'line',
      },
      expectedValue,
    ],
  },
  judge: {
    name: 'Is judged by a language model',
    passesIf: 'the LLM judge decides that the conversation meets the criteria',
    fields: [
      {
        pointer: '/params/criteria',
        label: 'Criteria',
        hint: 'The behavior that passes, in one sentence: "The agent names the delivery date."',
        input: 'text',
        expected: 'a text that is not blank',
      },
      {
        pointer: '/params/model',
        label: 'Model',
        hint: 'Leave it empty to use the model of the service.',
        input: 'line',
        isOptional: true,
      },
    ],
  },
};

/** The id of an eval. It can't be changed later. */
export const idField: EvalField = {
  pointer: '/id',
  label: 'Id',
  hint: 'Names the eval in settings and scenarios, and can’t be changed later. If empty, it is made from the name: order-found for Order found.',
  input: 'line',
  isOptional: true,
  expected:
    '1 to 64 letters, digits, dots, hyphens, and underscores, without spaces, and neither . nor ..',
};

/** The fields that evals of every kind have. */
const sharedFields: readonly EvalField[] = [
  { pointer: '/name', label: 'Name', hint: 'Shown in results.', input: 'line' },
  {
    pointer: '/category',
    label: 'Category',
    hint: 'Shown in results; general if empty.',
    input: 'line',
    isOptional: true,
  },
  {
    pointer: '/type',
    label: 'Type',
    hint: 'Shown in results. It does not change the scoring.',
    input: 'choice',
    choices: [
      ['session_level', 'session level'],
      ['turn_level', 'turn level'],
    ],
  },
  {
    pointer: '/reason',
    label: 'Reason',
    hint: 'What goes wrong for the user if the eval fails.',
    input: 'line',
    isOptional: true,
  },
  {
    pointer: '/required',
    label: 'A conversation fails if this eval fails',
    input: 'flag',
  },
];

/** Returns the fields of the form for a kind. The id is asked only for a new eval. */
export function listFields(kind: EvalKind, isNew: boolean): EvalField[] {
  return [...(isNew ? [idField] : []), ...sharedFields, ...evalKinds[kind].fields];
}

/** Returns whether a text is a kind of eval. */
export const isEvalKind = (text: string): text is EvalKind => Object.hasOwn(evalKinds, text);
