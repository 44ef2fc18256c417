// Caches compiled forms by their text: a method's question is the same for all its runs.
import { type CheckValue, compileCheck } from '@methods/method/check-value';
import type { JsonSchema } from '@methods/method/json';
import { LRUCache } from 'lru-cache';

const FORMS_MAX = 500;
/** Forms of earlier releases may be as large as a message. A longer one is compiled for each of its answers. */
const FORM_CHARACTERS_MAX = 16 * 1024;

export interface CompiledForm {
  readonly schema: JsonSchema;
  readonly check: CheckValue;
}

export class CompiledForms {
  private readonly forms = new LRUCache<string, CompiledForm>({ max: FORMS_MAX });

  of(formJson: string): CompiledForm {
    const known = this.forms.get(formJson);
    if (known !== undefined) return known;
    const schema = JSON.parse(formJson) as JsonSchema;
    const form = { schema, check: compileCheck(schema) };
    if (formJson.length > FORM_CHARACTERS_MAX) return form;
    this.forms.set(formJson, form);
    return form;
  }
}
