import * as z from 'zod';
import type { CommandDescription } from '../command.ts';
import { CONFIG_FILE } from '../flags/config-option.ts';
import { REFERENCE_ONLY } from './references.ts';
import { settingsOf, sharedSettingsOf, toKey, type Setting, type Settings } from './settings.ts';

/** The schema of a value with a reference: `${NAME}` or `${NAME:-default}`. */
const reference = { type: 'string', pattern: '\\$\\{' };
const onlyReference = { type: 'string', pattern: REFERENCE_ONLY };

type Schema = Readonly<Record<string, unknown>>;

/** Returns the JSON Schema of the configuration file, which editors use. */
export function createConfigSchema(commands: readonly CommandDescription[]): Schema {
  const sections = commands.map((command): [string, Schema] => [
    toKey(command.name),
    {
      description: `Options of sandbox-kit ${command.name}`,
      type: ['object', 'null'],
      additionalProperties: false,
      properties: propertiesOf(settingsOf(command)),
    },
  ]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'SandboxKitConfig',
    description: `Options of sandbox-kit in ${CONFIG_FILE}. Options outside of sections apply to every command that tests a sandbox. \${NAME} and \${NAME:-default} are replaced by environment variables.`,
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      ...propertiesOf(sharedSettingsOf(commands)),
      ...Object.fromEntries(sections),
    },
  };
}

const propertiesOf = (settings: Settings): Record<string, Schema> =>
  Object.fromEntries([...settings].map(([key, setting]) => [key, schemaOf(setting)]));

function schemaOf({ option, help }: Setting): Schema {
  if (option.isSecret) {
    return {
      description: `${help}. Must be a reference to an environment variable: \${NAME}`,
      ...onlyReference,
    };
  }
  const value = toJsonSchema(option.schema);
  const { type, items } = value;
  if (option.isList && type === 'array') {
    const item = allowReference(items as Schema, option.type);
    return { description: help, anyOf: [{ type: 'array', items: item }, item] };
  }
  return { description: help, ...allowReference(value, option.type) };
}

/** Adds the forms that a YAML file also allows: a reference, and a number or a boolean as text. */
function allowReference(value: Schema, type: Setting['option']['type']): Schema {
  const { type: valueType, ...others } = value;
  const isAnyText = valueType === 'string' && !('enum' in value) && !('pattern' in value);
  if (isAnyText) return { ...others, type: ['string', 'number', 'boolean'] };
  const fixed = type === 'string' && valueType === 'string' && 'pattern' in value;
  return { anyOf: [value, ...(fixed ? [{ type: 'number' }] : []), reference] };
}

/** Returns the JSON Schema of the values of an option, without its default and description. */
function toJsonSchema(schema: z.ZodType): Schema {
  const json = z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  return removeTexts(json) as Schema;
}

function removeTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !['$schema', 'default', 'description'].includes(name))
      // A number without a bound has the maximum Infinity.
      .filter(([, each]) => each !== null && each !== Infinity)
      .map(([name, each]) => [name, removeTexts(each)]),
  );
}
