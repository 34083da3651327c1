/** The generated lists of docs/interface.md: each endpoint with an example, its fields, and its errors. */
import {
  sandboxRoutes,
  schemas,
  serviceRoutes,
  voiceChannel,
  type MessageName,
  type Route,
  type Routes,
} from '../../src/contract/index.ts';
import { code, formatTable, joinParagraphs } from './reference.ts';

/** Returns the endpoints of a sandbox, with the messages of its voice WebSocket. */
export function formatSandboxInterface(): string {
  return joinParagraphs([
    ...Object.values(sandboxRoutes).map((route) => formatRoute(route, (rows) => rows)),
    formatVoice(),
    ...formatErrors(sandboxRoutes, 'SandboxError'),
  ]);
}

/** Returns the endpoints of the service. The two lists of results have most of their rows in common. */
export function formatServiceInterface(): string {
  const shown = new Set<string>();
  const selectNew: SelectRows = (rows) => {
    const selected = rows.filter((row) => !shown.has(row.join('\n')));
    for (const row of selected) shown.add(row.join('\n'));
    const common = ['The others', ...Array<string>(selected[0]?.length ?? 0).fill('')];
    return selected.length === rows.length
      ? rows
      : [...selected, common.slice(0, -1).with(-1, 'As above.')];
  };
  return joinParagraphs([
    ...Object.values(serviceRoutes).map((route) => formatRoute(route, selectNew)),
    ...formatErrors(serviceRoutes, 'ServiceError'),
  ]);
}

type Rows = readonly (readonly string[])[];
/** Selects the rows of a table that are not shown before. */
type SelectRows = (rows: Rows) => Rows;

const nameRoute = ({ method, path }: Route): string => `${method} ${path}`;

function formatRoute(route: Route, select: SelectRows): string {
  const { summary, description, parameters, body, responses } = route;
  const request = messageOf(body);
  const accepted = Object.entries(responses).flatMap(([status, response]) => {
    const message = messageOf(response.content);
    const isError = message === undefined || message.endsWith('Error');
    return isError || response.isExtension ? [] : [{ status, message, response }];
  });
  return joinParagraphs([
    `### ${nameRoute(route)}`,
    `${summary}. ${description}`,
    formatTable(
      ['Parameter', 'In', 'Meaning'],
      select(
        parameters.map(({ name, in: place, description }) => [code(name), place, description]),
      ),
    ),
    ...(request === undefined
      ? []
      : ['Request:', formatExample(request), formatFields(request, select)]),
    ...accepted.flatMap(({ status, message, response }) => [
      `Response, ${formatStatus(status)}: ${response.description}`,
      formatExample(message, response.examples),
    ]),
    ...[...new Set(accepted.map(({ message }) => message))].map((message) =>
      formatFields(message, select),
    ),
  ]);
}

/** Returns the message that is the JSON body of a request or a response. */
const messageOf = (contents: Route['body'] = {}): MessageName | undefined =>
  Object.values(contents).flatMap((content) => ('message' in content ? [content.message] : []))[0];

const formatStatus = (status: string): string =>
  status.endsWith('XX') ? `any ${status.toLowerCase()}` : status;

function formatVoice(): string {
  const { path, protocol, messages } = voiceChannel;
  return joinParagraphs([
    `### WebSocket ${path}`,
    `Only for agents that take calls. The caller opens it with the subprotocol ${code(protocol)}, and both sides send JSON. The audio is a WebRTC connection. The other messages that the kit defines are in ${code('schemas/asyncapi-voice.json')}.`,
    ...messages
      .filter(({ name }) => !isOptionalExtension(name))
      .flatMap(({ name, ...rest }) => [
        `#### ${schemas[name].properties.type.const}`,
        `${schemas[name].description}${'isExtension' in rest ? ' The specification defines no message for this; the kit sends this one.' : ''}`,
        formatExample(name),
        formatFields(name, (rows) => rows),
      ]),
  ]);
}

/** Whether a call works without a message that the specification does not define. */
const isOptionalExtension = (name: MessageName): boolean =>
  name === 'IceCandidate' || name === 'Caption';

/** Returns the errors of some routes, and an example of their body. */
function formatErrors(routes: Routes, message: MessageName): string[] {
  const errors = Object.values(routes).flatMap((route) =>
    Object.entries(route.responses).flatMap(([status, response]) => {
      // The specification requires keys, but leaves the status of a wrong one open.
      const isKnown = !response.isExtension || status === '401';
      if (messageOf(response.content) !== message || !isKnown) return [];
      const [body] = Object.values(response.examples ?? {}) as ErrorBody[];
      const names = body?.error && [body.error.code, body.error.type].map(code).join(', ');
      return [
        { route, row: [formatStatus(status), ...(names ? [names] : []), response.description] },
      ];
    }),
  );
  const rows = [...Map.groupBy(errors, ({ row }) => row.join('\n')).values()].map((group) => [
    ...(group[0]?.row ?? []),
    group.map(({ route }) => code(nameRoute(route))).join(', '),
  ]);
  const hasCodes = rows.some((row) => row.length === 4);
  return [
    '### Errors',
    formatExample(message),
    formatTable(
      ['Status', ...(hasCodes ? ['Code, type'] : []), 'Meaning', 'Endpoints'],
      rows.sort(([left = ''], [right = '']) => left.localeCompare(right)),
    ),
  ];
}

interface ErrorBody {
  error?: { code: string; type: string };
}

/** Returns the example that shows most fields. */
function formatExample(
  message: MessageName,
  examples: Readonly<Record<string, unknown>> | readonly unknown[] = schemas[message].examples,
): string {
  const [fullest] = Object.values(examples)
    .map((example) => JSON.stringify(example))
    .sort((left, right) => right.length - left.length);
  return ['```json', fullest ?? '{}', '```'].join('\n');
}

/** A JSON Schema, as far as the messages use it. */
interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  const?: string;
  enum?: readonly string[];
  format?: string;
  description?: string;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema | boolean>>;
  items?: Schema;
  anyOf?: readonly Schema[];
  definitions?: Readonly<Record<string, Schema>>;
}

const schemasById = new Map(
  Object.values(schemas).map((schema) => [schema.$id as string, schema as Schema]),
);

/** The attributes of spans, not the fields of OTLP, matter to those who send traces. */
const WITHOUT_FIELDS: readonly MessageName[] = ['TraceExportRequest', 'TraceExportResponse'];

/** Returns the fields of a message that are required, or that the example does not explain. */
function formatFields(message: MessageName, select: SelectRows): string {
  if (WITHOUT_FIELDS.includes(message)) return '';
  const root = schemas[message] as Schema;
  const rows = select(listFields(root, root, '', 'yes'));
  return formatTable(['Field', 'Required', 'Type', 'Meaning'], rows);
}

/** @param required What a required field says: whether its parent is required, too. */
function listFields(schema: Schema, root: Schema, path: string, required: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return [];
    const field = resolve(property, root);
    const place = `${path}${name}`;
    const need = schema.required?.includes(name) ? required : '';
    const type = describeType(field.schema);
    const { description = '' } = field.schema;
    const isPlain = need === '' && description === '' && !type.includes('`');
    const insideNeed = need === 'yes' ? 'yes' : 'with its parent';
    const inside = [
      ...listFields(field.schema, field.root, `${place}.`, insideNeed),
      ...listItems(field.schema, field.root, place, insideNeed),
    ];
    const isImplied = description === '' && inside.length > 0;
    return [...(isPlain || isImplied ? [] : [[code(place), need, type, description]]), ...inside];
  });
}

function listItems({ items }: Schema, root: Schema, path: string, required: string): string[][] {
  if (!items) return [];
  const item = resolve(items, root);
  return listFields(item.schema, item.root, `${path}[].`, required);
}

/** Follows a reference to a definition of the message, or to another message. */
function resolve(schema: Schema, root: Schema): { schema: Schema; root: Schema } {
  const { $ref } = schema;
  if ($ref === undefined) return { schema, root };
  const message = schemasById.get($ref);
  const found = message ?? root.definitions?.[$ref.replace('#/definitions/', '')];
  if (!found) throw new Error(`${$ref} must refer to a message or to a definition.`);
  return { schema: found, root: message ?? root };
}

function describeType({ type, const: value, enum: choices, format, anyOf }: Schema): string {
  if (value !== undefined) return code(value);
  if (choices) return choices.map(code).join(', ');
  if (format === 'iso8601') return 'time in ISO 8601';
  if (anyOf)
    return [...new Set(anyOf.map(describeType))].filter((each) => each !== 'any').join(' or ');
  return type === undefined ? 'any' : [type].flat().join(' or ');
}
