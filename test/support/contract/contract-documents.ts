import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ROOT } from '../repository.ts';

/** A media type of an OpenAPI document. */
interface MediaType {
  schema: object;
  examples?: Record<string, { value: unknown }>;
}

/** A response of an OpenAPI document. */
interface ResponseObject {
  description: string;
  headers?: Record<string, { required?: boolean; schema: object }>;
  content: Record<string, MediaType>;
}

/** An operation of an OpenAPI document. */
interface Operation {
  operationId: string;
  description: string;
  parameters?: { name: string; in: string; schema: object; example?: unknown }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, ResponseObject>;
}

/** An OpenAPI document, as read from a file. */
export interface OpenApiFile {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

/** Reads a document that the package contains. */
export function readDocument(name: string): OpenApiFile {
  return JSON.parse(readFileSync(join(ROOT, 'schemas', name), 'utf8')) as OpenApiFile;
}

/** Returns the operations of a document with their method and path. */
export function listOperations(
  document: OpenApiFile,
): { method: string; path: string; pointer: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      pointer: `#/paths/${escapeKey(path)}/${method}`,
      operation,
    })),
  );
}

/** Escapes a key for a JSON pointer in a URI fragment. */
export const escapeKey = (key: string): string =>
  encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

type FindProblems = (pointer: string, value: unknown) => string[];

/**
 * Returns a function that validates a value with the schema at a pointer of a document, as a
 * standard OpenAPI 3.1 validator does, without the formats and keywords that the kit adds.
 */
export function createDocumentValidator(document: object): FindProblems {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, 'document.json');
  const compiled = new Map<string, ValidateFunction>();
  return (pointer, value) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `document.json${pointer}` });
    compiled.set(pointer, validate);
    validate(value);
    return (validate.errors ?? []).map(describeError);
  };
}

const describeError = ({ instancePath, message }: ErrorObject): string =>
  `${instancePath} ${message ?? ''}`;
