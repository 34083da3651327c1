/** Reads one value of a configuration file. */
import { isScalar, isSeq, type Scalar } from 'yaml';
import type { SandboxKitError } from '../errors.ts';
import { readNumber } from '../flags/command-line.ts';
import { readVariable } from '../flags/environment.ts';
import { describeIssue, expectedOf } from '../flags/parse.ts';
import type { Variables } from '../process.ts';
import type { Option } from '../../src/options/option.ts';
import type { YamlSource } from '../../library/input/documents.ts';
import {
  hasReference,
  isReferenceOnly,
  InvalidReferenceError,
  replaceReferences,
} from './references.ts';
import type { Setting } from './settings.ts';

/** A value of the file. */
export interface ConfigValue {
  setting: Setting;
  /** The key with its section, such as `check.rate`. */
  path: string;
  /**
   * Returns the value in the form in which the command line passes it.
   *
   * @throws {SandboxKitError} if an environment variable that it names is unset or has an invalid value.
   */
  read: () => unknown;
}

/** The position of a value in the file. */
export interface Place {
  /** The offset of its key. */
  at: number;
  node: unknown;
  source: YamlSource;
  /** The environment variables that the value can refer to. */
  env: Variables;
}

/** A value that is not read yet. */
interface Entry extends Place {
  setting: Setting;
  path: string;
}

/** Reads a value, and checks it if it does not contain a reference. */
export function readValue(entry: Entry): ConfigValue {
  const { setting, path } = entry;
  const { option } = setting;
  const scalars = readScalars(entry);
  if (!scalars.some((each) => hasReference(textOf(each)))) {
    const value = oneOrAll(
      entry,
      scalars.map((scalar) => toOptionValue(option, scalar)),
    );
    const { error } = option.schema.safeParse(value, { reportInput: true });
    if (error) {
      const expected = describeExpected(option);
      throw errorAt(entry, describeIssue('', error.issues[0], expected).trim());
    }
    return { setting, path, read: () => value };
  }
  return {
    setting,
    path,
    read() {
      const value = oneOrAll(
        entry,
        scalars.map((scalar) => expand(entry, scalar)),
      );
      if (option.schema.safeParse(value).success) return value;
      // The message does not quote the value of a variable, because it may be secret.
      const expected = describeExpected(option);
      throw errorAt(entry, `must be ${expected}. ${describeSource(scalars)} is invalid.`);
    },
  };
}

/** Returns the offset of a node in the file. */
export const offsetOf = (node: unknown): number | undefined =>
  (node as { range?: readonly number[] | null } | null)?.range?.[0];

const errorAt = ({ path, at, node, source }: Entry, problem: string): SandboxKitError =>
  source.errorAt(offsetOf(node) ?? at, `\`${path}\` ${problem}`);

/** Returns the scalars of a value or of a list, if the option can have them. */
function readScalars(entry: Entry): Scalar[] {
  const { setting, path, at, node, source } = entry;
  const { option } = setting;
  const scalars = scalarsOf(node);
  if (!scalars) throw errorAt(entry, `must be ${describeExpected(option)}, got a mapping.`);
  if (scalars.length > 0 && scalars.some(({ value }) => value === null)) {
    throw source.errorAt(at, `\`${path}\` has no value. It must be ${describeExpected(option)}.`);
  }
  if (option.isSecret && !scalars.every((each) => isReferenceOnly(textOf(each)))) {
    throw errorAt(
      entry,
      `must not contain the secret itself. Name an environment variable, such as ${setting.key}: \${SANDBOX_KEY}.`,
    );
  }
  const isListAllowed = option.isList || option.schema.safeParse([]).success;
  if (isSeq(node) && !isListAllowed) {
    throw errorAt(entry, `must be ${describeExpected(option)}, got a list.`);
  }
  return scalars;
}

/** Returns the scalars of a value or of a list; undefined for anything else. */
function scalarsOf(node: unknown): Scalar[] | undefined {
  const nodes = isSeq(node) ? node.items : [node];
  return nodes.every((each): each is Scalar => isScalar(each)) ? nodes : undefined;
}

/** Returns a list if the file has one or the option takes one. */
const oneOrAll = ({ node, setting }: Entry, values: readonly unknown[]): unknown =>
  isSeq(node) || setting.option.isList ? values : values[0];

/** Returns the value of a scalar with its references replaced. */
function expand({ setting, at, source, env }: Entry, scalar: Scalar): unknown {
  try {
    const text = replaceReferences(textOf(scalar), (name) => readVariable(name, env));
    return parseText(setting.option, text);
  } catch (error) {
    if (!(error instanceof InvalidReferenceError)) throw error;
    throw source.errorAt(offsetOf(scalar) ?? at, `${error.message}.`);
  }
}

const describeExpected = (option: Option): string =>
  option.type === 'boolean' ? 'true or false' : expectedOf(option.schema);

const describeSource = (scalars: readonly Scalar[]): string =>
  scalars.length === 1 && scalars[0] ? `The value of ${textOf(scalars[0])}` : 'One of its values';

/** Returns a scalar with its spelling in the file, for example `017`. */
function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

function toOptionValue({ type }: Option, scalar: Scalar): unknown {
  return type === 'string' ? textOf(scalar) : scalar.value;
}

/** Parses the value of a variable as the command line does. */
function parseText({ type }: Option, text: string): unknown {
  if (type === 'boolean' && ['true', 'false'].includes(text)) return text === 'true';
  return type === 'number' ? readNumber(text) : text;
}
