import { resolvePointer, type EvalDefinition } from '../../../contract/index.ts';
import type { Fact } from '../../../report-kit/fact-list.ts';
import { cutText } from '../../../report-kit/format.ts';
import { evalKinds } from './eval-fields.ts';
import { showValue } from './eval-form.ts';

const VALUE_LENGTH_MAX = 500;

/** Returns the parameters of an eval under the names of their fields in the form. */
export function listParameters(definition: EvalDefinition): Fact[] {
  return evalKinds[definition.kind].fields.flatMap((field): Fact[] => {
    const value = resolvePointer(definition, field.pointer);
    const text = showValue(field, value);
    if (text === undefined) return [];
    const choice = field.choices?.find(([each]) => each === value)?.[1];
    const shown = field.input === 'flag' ? 'yes' : (choice ?? text);
    return [[field.label, cutText(shown, VALUE_LENGTH_MAX), 'text']];
  });
}
