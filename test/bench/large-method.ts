// A method of a given number of steps with realistic content: code, calls of a service, questions, checks, loops, types.

const HEAD = `# Made for measuring.
format: method/2
name: large
inputs:
  due: date -- Invoices due by this day
  release_above: number 0.. = 10000 -- Sum that a person must release, in EUR
  tags: list<string> = []
types:
  Invoice:
    id: string 1..40
    payee: string
    iban: string /^[A-Z]{2}[0-9A-Z]{13,32}$/
    amount: number >0..
secrets: [BANK_TOKEN]
`;

/** Eight steps that use each other and those of the part before. */
function part(i: number): string {
  const before = i === 0 ? '=inputs.release_above' : `=steps.batch_${i - 1}.total`;
  return `  - name: pages_${i}
    repeat: { until: out.next == null, max: 50, delay: 200ms }
    http:
      get: https://erp.example.com/api/${i}/invoices
      query: { status: approved, due_until: =inputs.due, page: =last?.next }
      take: { invoices: response.body.items, next: response.body.next_page }
    retry: { max: 3, delay: 1s, factor: 3, max_delay: 10s, if: error.kind == "network" || error.status == 429 }
    out: { invoices: list<Invoice>, next: integer | null }
  - name: batch_${i}
    in: { invoices: =steps.pages_${i}.flatMap(p => p.invoices), before: ${before} }
    node: |
      const payees = new Set(invoices.map(invoice => invoice.payee))
      step.log(\`\${invoices.length} invoices of \${payees.size} payees\`)
      step.check('Every invoice stands there once', new Set(invoices.map(i => i.id)).size === invoices.length)
      return { invoices, total: Math.round(invoices.reduce((sum, i) => sum + i.amount * 100, before)) / 100 }
    out: { invoices: list<Invoice>, total: number 0.. }
    ensure:
      - name: The batch is of the usual size
        that: out.invoices.length <= 500
        level: warn
        message: \${out.invoices.length} invoices are more than usual
  - name: usual_${i}
    in: { amounts: =steps.batch_${i}.invoices.map(i => i.amount) }
    python: |
      import statistics
      return {"mean": statistics.fmean(amounts) if amounts else 0, "count": len(amounts)}
    out: { mean: number, count: integer 0.. }
  - name: release_${i}
    if: steps.batch_${i}.total > inputs.release_above && steps.usual_${i}?.mean != null
    ask:
      question: Pay \${steps.batch_${i}.invoices.length} invoices, \${steps.batch_${i}.total} EUR together?
      details: Due by \${inputs.due}. The largest is \${max(steps.batch_${i}.invoices.map(i => i.amount)) ?? 0} EUR.
      show: [steps.batch_${i}.invoices]
    out: { go: boolean, note?: text ..500 -- Kept with the payments }
    limits: { timeout: 3d }
  - name: pay_${i}
    if: steps.release_${i} == null || steps.release_${i}.go
    each: steps.batch_${i}.invoices
    as: invoice
    at_once: 3
    http:
      post: https://bank.example.com/v2/transfers
      auth: { bearer: BANK_TOKEN }
      json: { iban: =invoice.iban, cents: =round(invoice.amount * 100), reference: "Invoice \${invoice.id}" }
    retry: 5
    on_interrupt: rerun
    out: { id: string, state: [booked, queued] }
  - name: report_${i}
    in: { count: =steps.usual_${i}.count }
    shell: |
      printf 'paid %s\\n' "$count" > report.txt
      step out lines "$(wc -l < report.txt)"
    out: { lines: integer }
  - name: paid_${i}
    check:
      - Every invoice was paid or none was: steps.pay_${i}.every(p => p != null) || steps.pay_${i}.every(p => p == null)
  - name: tell_${i}
    if: inputs.tags.includes("tell-${i}")
    http: { post: "https://chat.example.com/hooks/${i}", json: { text: "\${steps.report_${i}.lines} lines" } }
    on_error: continue
    out: { ok: boolean }
`;
}

/** `steps`: a multiple of eight. */
export function largeMethod(steps: number): string {
  const parts = Array.from({ length: steps / 8 }, (_, i) => part(i));
  return `${HEAD}steps:\n${parts.join('')}result:\n  total: =steps.batch_${parts.length - 1}.total\n`;
}
