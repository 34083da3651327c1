/** How a program passes a value whose written form, such as `5m`, is for people. */
import * as z from 'zod';

/** A value in code. */
export interface CodeForm {
  /** Checks the value. Its error completes "OPTION must be …". */
  schema: z.ZodType;
  /** The TypeScript type. */
  type: string;
  /** The docstring. */
  about: string;
}

const forms = new WeakMap<z.ZodType, Omit<CodeForm, 'about'>>();

/** Sets the form in code of a value whose written form is another one. */
export function writtenAs<Schema extends z.ZodType>(
  schema: Schema,
  code: Omit<CodeForm, 'about'>,
): Schema {
  forms.set(schema, code);
  return schema;
}

/** Returns the form in code of a value: the one that was set for it, or else the written one. */
export function codeFormOf(schema: z.ZodType): Omit<CodeForm, 'about'> {
  const form = forms.get(schema);
  if (form) return form;
  if (!(schema instanceof z.ZodArray)) return { schema, type: typeOf(schema) };
  const items = codeFormOf(schema.element as z.ZodType);
  return { schema: z.array(items.schema, 'an array of texts'), type: `readonly ${items.type}[]` };
}

function typeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodEnum) {
    return schema.options.map((word) => `'${String(word)}'`).join(' | ');
  }
  if (schema instanceof z.ZodNumber) return 'number';
  return schema instanceof z.ZodBoolean ? 'boolean' : 'string';
}
