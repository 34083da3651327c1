import { findViolations, resolvePointer, type EvalDefinition } from '../../../contract/index.ts';
import { toSentence } from '../../../platform/sandbox-kit-error.ts';
import { parseEval } from '../../evals/definitions.ts';
import { parseBoundedJson } from '../../requests/bounded-json.ts';
import type { LabeledValues } from '../frame/edits.ts';
import { InvalidDocumentError, RequestError } from '../../requests/errors.ts';
import { idField, listFields, type EvalField, type EvalKind } from './eval-fields.ts';

/** The entered values by the pointers of their fields, as the form sends them. */
export type EnteredValues = ReadonlyMap<string, string>;

/** The problems of a form by the pointer of the field; `''` for those of the whole form. */
export type Problems = ReadonlyMap<string, string>;

/** What the editor holds: the fields of a kind, or the definition as JSON. */
export interface EvalDraft {
  /** The id of the eval to change; undefined for a new one. */
  original: string | undefined;
  /** Undefined if the definition is edited as JSON. */
  kind: EvalKind | undefined;
  values: EnteredValues;
}

/** The name of the field with the definition as JSON. */
export const JSON_FIELD = 'definition';

/** Returns the draft of an eval that is stored, or of a new one of a kind. */
export function draftOf(definition: EvalDefinition, { asJson }: { asJson: boolean }): EvalDraft {
  const original = definition.id;
  if (asJson || hasHiddenLineBreak(definition)) {
    const values = new Map([[JSON_FIELD, JSON.stringify(definition, null, 2)]]);
    return { original, kind: undefined, values };
  }
  const { kind } = definition;
  const values = listFields(kind, false).flatMap((field): [string, string][] => {
    const value = resolvePointer(definition, field.pointer);
    const text = showValue(field, field.pointer === '/required' ? (value ?? true) : value);
    return text === undefined ? [] : [[field.pointer, text]];
  });
  return { original, kind, values: new Map(values) };
}

/** Returns whether a field of one line would lose a line break of its value. */
function hasHiddenLineBreak(definition: EvalDefinition): boolean {
  return listFields(definition.kind, false).some(({ pointer, input }) => {
    const value = resolvePointer(definition, pointer);
    return input === 'line' && typeof value === 'string' && /[\r\n]/.test(value);
  });
}

/** Returns the text of a value in its field; undefined for an unchecked checkbox and no value. */
export function showValue({ input }: EvalField, value: unknown): string | undefined {
  if (value === undefined || value === false) return undefined;
  if (input === 'json') return JSON.stringify(value, null, 2);
  if (input === 'lines' && Array.isArray(value)) return value.join('\n');
  if (input === 'flag') return 'true';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the values of a draft by the labels of their fields. */
export function labelValues({ kind, values }: EvalDraft): LabeledValues {
  if (kind === undefined) return { Definition: values.get(JSON_FIELD) ?? '' };
  const shown = listFields(kind, false).map(({ pointer, label, input, choices = [] }) => {
    const value = (values.get(pointer) ?? '').replaceAll('\r\n', '\n');
    if (input === 'flag') return [label, value === '' ? 'no' : 'yes'] as const;
    return [label, choices.find(([choice]) => choice === value)?.[1] ?? value] as const;
  });
  return Object.fromEntries(shown);
}

/** An eval that the form defines, or what is wrong with it. */
export type ReadEval = { definition: EvalDefinition } | { problems: Problems };

/** Reads the eval of a draft, and checks it as `/__admin/evals` does. */
export function readEval(draft: EvalDraft): ReadEval {
  if (draft.kind === undefined) return readJson(draft.original, draft.values);
  const { kind, original } = draft;
  const fields = listFields(kind, original === undefined);
  const definition: Record<string, unknown> = { ...(original !== undefined && { id: original }) };
  const params: Record<string, unknown> = {};
  const problems = new Map<string, string>();
  for (const field of fields) {
    const read = readField(field, draft.values.get(field.pointer) ?? '');
    if ('problem' in read) problems.set(field.pointer, read.problem);
    else if (read.value !== undefined) {
      const [, first = '', second] = field.pointer.split('/');
      if (second === undefined) definition[first] = read.value;
      else params[second] = read.value;
    }
  }
  definition.id ??= makeId(draft.values.get('/name') ?? '');
  if (definition.id === undefined)
    problems.set(idField.pointer, `${idField.label} must not be empty.`);
  Object.assign(definition, { kind, params });
  const checked = checkEval(definition, fields);
  if ('definition' in checked && problems.size === 0) return checked;
  // What can't be read is the cause of what the definition lacks.
  const found = 'problems' in checked ? checked.problems : [];
  return { problems: new Map([...found, ...problems]) };
}

const ID_LENGTH_MAX = 64;

/** Makes the id of an eval from its name: order-found of "Order found". Undefined if nothing is left. */
function makeId(name: string): string | undefined {
  const words = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const id = words
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, ID_LENGTH_MAX)
    .replaceAll(/^-|-$/g, '');
  return id === '' ? undefined : id;
}

type ReadField = { value: unknown } | { problem: string };

function readField(field: EvalField, text: string): ReadField {
  const { input, label, pointer, isOptional = false } = field;
  if (input === 'flag') {
    const isChecked = text !== '';
    // Absent means required, and that case does not matter.
    if (pointer === '/required') return { value: isChecked ? undefined : false };
    return { value: isChecked ? true : undefined };
  }
  if (text.trim() === '' && isOptional) return { value: undefined };
  if (text === '') return { problem: `${label} must not be empty.` };
  switch (input) {
    case 'number':
      return Number.isFinite(Number(text)) && text.trim() !== ''
        ? { value: Number(text) }
        : { problem: `${label} must be a number, such as 3.` };
    case 'json':
      try {
        return { value: parseBoundedJson(text) };
      } catch {
        return { problem: `${label} must be valid JSON. Texts need double quotes: "shipped".` };
      }
    case 'lines': {
      const lines = text.split(/\r?\n/).map((line) => line.trim());
      return { value: lines.filter((line) => line !== '') };
    }
    case 'line':
    case 'text':
    case 'choice':
      // A browser sends each line break of a text as CR LF.
      return { value: text.replaceAll('\r\n', '\n') };
  }
}

function readJson(original: string | undefined, values: EnteredValues): ReadEval {
  let value: unknown;
  try {
    value = parseBoundedJson(values.get(JSON_FIELD) ?? '', 'The definition');
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { problems: new Map([[JSON_FIELD, error.message]]) };
  }
  const checked = checkEval(value, []);
  if ('problems' in checked) {
    return { problems: new Map([[JSON_FIELD, [...checked.problems.values()].join(' ')]]) };
  }
  if (original === undefined || checked.definition.id === original) return checked;
  const message = `The id must stay ${original}. To change the id, add a new eval and delete this one.`;
  return { problems: new Map([[JSON_FIELD, message]]) };
}

/** Checks a definition as the API does, and puts each problem at its field. */
function checkEval(value: unknown, fields: readonly EvalField[]): ReadEval {
  try {
    return { definition: parseEval(value) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error instanceof InvalidDocumentError) {
      const field = fields.find(({ pointer }) => pointer === error.pointer);
      const rest = error.problem.slice(error.pointer.length).trim();
      const problem = toSentence(`${field?.label ?? error.pointer} ${rest}`);
      return { problems: new Map([[field?.pointer ?? '', problem]]) };
    }
    return { problems: placeViolations(value, fields, error.message) };
  }
}

/** Puts each violation of the schema at its field; the others at the whole form. */
function placeViolations(
  value: unknown,
  fields: readonly EvalField[],
  message: string,
): Map<string, string> {
  const problems = new Map<string, string>();
  for (const { pointer, expected, received } of findViolations('EvalDefinition', value)) {
    const field = fields.find(
      (candidate) => pointer === candidate.pointer || pointer.startsWith(`${candidate.pointer}/`),
    );
    if (!field) problems.set('', message);
    else if (!problems.has(field.pointer)) {
      const problem = `${field.label} must be ${field.expected ?? expected}, got ${received}.`;
      problems.set(field.pointer, problem);
    }
  }
  if (problems.size === 0) problems.set('', message);
  return problems;
}

/** The problem of a new eval whose id is taken. */
export function idTakenProblem({ kind }: EvalDraft, id: string): Problems {
  const message = `An eval with the id ${id} already exists. Choose another id, or edit that eval.`;
  return new Map([[kind === undefined ? JSON_FIELD : idField.pointer, message]]);
}

/**
 * Returns the draft of an eval that somebody else has deleted as the draft of a new one, so that saving
 * does not bring it back unnoticed.
 */
export function toNewDraft(draft: EvalDraft, id: string): { draft: EvalDraft; problems: Problems } {
  const values = new Map([...draft.values, [idField.pointer, id]]);
  const message = `The eval ${id} was deleted meanwhile. Save again to add it as a new one.`;
  const field = draft.kind === undefined ? JSON_FIELD : idField.pointer;
  return {
    draft: { ...draft, original: undefined, values },
    problems: new Map([[field, message]]),
  };
}
