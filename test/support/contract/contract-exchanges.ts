import type { Test } from 'tap';
import {
  createDocumentValidator,
  escapeKey,
  listOperations,
  type OpenApiFile,
} from './contract-documents.ts';

/** A response of a server. */
interface ReceivedResponse {
  status: number;
  headers: { get: (name: string) => string | null };
  text: string;
  json: unknown;
}

/** Compares responses with a document, and records which of its statuses were seen. */
interface ExchangeChecker {
  /** Returns why an operation may not respond like this; nothing if it may. */
  findProblems: (operationId: string, response: ReceivedResponse) => string[];
  /** Asserts that an operation may respond like this. */
  check: (operationId: string, response: ReceivedResponse) => void;
  /** Asserts that a request body is one that an operation describes. */
  checkBody: (operationId: string, body: unknown) => void;
  /** Asserts that every status of every operation was seen, except these. */
  assertComplete: (exceptions: Readonly<Record<string, string>>) => void;
}

/** Returns a function that finds out why an operation of a document may not respond like this. */
export function createProblemFinder(document: OpenApiFile): ExchangeChecker['findProblems'] {
  const validate = createDocumentValidator(document);
  const find = createOperationFinder(document);
  return (operationId, received) => {
    const { operation, pointer } = find(operationId);
    const { status, headers, text, json } = received;
    const response = operation.responses[String(status)];
    if (!response) return [`${status} is not in the document`];
    const at = `${pointer}/responses/${status}`;
    const problems: string[] = [];
    for (const [name, { required, schema }] of Object.entries(response.headers ?? {})) {
      const value = headers.get(name);
      if (required && value === null) problems.push(`${name} is missing`);
      if (value === null) continue;
      const isNumber = (schema as { type?: string }).type === 'integer';
      const sent = isNumber ? Number(value) : value;
      const wrong = validate(`${at}/headers/${name}/schema`, sent);
      problems.push(...wrong.map((problem) => `${name}${problem}`));
    }
    const type = headers.get('content-type')?.replace(/;.*$/, '') ?? '';
    if (!(type in response.content)) return [...problems, `${type} is not in the document`];
    const body = type === 'application/json' ? json : text;
    return [...problems, ...validate(`${at}/content/${escapeKey(type)}/schema`, body)];
  };
}

function createOperationFinder(document: OpenApiFile) {
  const operations = new Map(
    listOperations(document).map((listed) => [listed.operation.operationId, listed]),
  );
  return (operationId: string) => {
    const listed = operations.get(operationId);
    if (!listed) throw new Error(`There is no operation ${operationId}.`);
    return listed;
  };
}

/** Creates a checker for the operations of a document. */
export function createExchangeChecker(t: Test, document: OpenApiFile): ExchangeChecker {
  const validate = createDocumentValidator(document);
  const find = createOperationFinder(document);
  const findProblems = createProblemFinder(document);
  const seen = new Set<string>();
  return {
    findProblems,
    check(operationId, response) {
      const title = `${operationId} ${response.status}`;
      seen.add(title);
      t.same(findProblems(operationId, response), [], `${title}: ${response.text.slice(0, 200)}`);
    },
    checkBody(operationId, body) {
      const schema = `${find(operationId).pointer}/requestBody/content/application~1json/schema`;
      t.same(validate(schema, body), [], `the request of ${operationId}`);
    },
    assertComplete(exceptions) {
      const listed = listOperations(document).flatMap(({ operation }) =>
        Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
      );
      const unseen = listed.filter((title) => !seen.has(title));
      t.same(unseen.sort(), Object.keys(exceptions).sort(), 'every status was provoked');
    },
  };
}
