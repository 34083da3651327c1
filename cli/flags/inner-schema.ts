import * as z from 'zod';

/** Returns the schema of the items of a list, or the one that an optional value or a default wraps. */
export function innerSchema(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return 'unwrap' in schema && typeof schema.unwrap === 'function'
    ? (schema.unwrap as () => z.ZodType)()
    : undefined;
}
