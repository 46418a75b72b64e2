# What the page, pictures, slides, notebooks and the command line say, in English.
# Project Fluent. Backticks mark what is set as code; everything else that is code comes in as an operand.
# A sentence is at most 140 characters long with its operands filled in; where several say the same, the first that
# fits is taken.

## Phases

phase-start = start
phase-collect = collect
phase-local-rule = local rule
phase-multiply = multiply
phase-send = send
phase-land = land
phase-arrive = arrive
phase-compute = compute
phase-save = save

## Values

nothing = nothing
value-gradient = a gradient of shape { $shape }
value-unseen = ?
v-is = `v` = { $value }
v-of-shape = `v` of shape { $shape }
v-of-output = `v` = { $value } for { $output }
v-of-output-shape = `v` of shape { $shape } for { $output }

fact-unknown = A newer gradwalk made this trace, with a fact that this page has no words for ({ $kind }).

## Lists and names

code = `{ $text }`

and = { $first } and { $last }
comma = { $first }, { $rest }
semicolon = { $first }; { $rest }
and-more = { $first }, and { $count } more
result-in-line = the result of { $op } in line { $line }
result-of = the result of { $op }
result-born = the result of { $op } in the backward of line { $line }
output-of = output { $number } of { $op }

operand-number = operand { $number }
operand-use = { $name }, use { $number }
constant = a constant

## What a local Jacobian looks like

structure-scalar = one number
structure-diagonal = diagonal: each entry scales only itself
structure-permutation = permutation: moves entries, changes none
structure-selection = selection: picks entries
structure-copies = repetition: backward adds up over the copies
structure-reduction = a sum or a mean: backward copies `v` to every entry
structure-kronecker = repeated blocks: a matrix product
structure-dense = no simple pattern: entries differ
structure-zero = all zeros: nothing passes back here
structure-too-large = too large to write out

## Before anything has run

start-program = Before the program: nothing is computed yet.
start-pass = Before the pass: it starts at { $names }; no gradient is computed yet.
start-output = the output
start-waiting = Waiting for the first backward pass.
start-none = The program made no backward pass.
step-awaited = This step has not arrived yet.

## 1 collect: what arrived at a node

collect-none = No gradient arrived at { $name }; undefined acts as zero.
collect-seed = The pass starts at { $name } with the seed `v` = { $v }.
collect-seed-shape = The pass starts at { $name } with a seed `v` of shape { $shape }.
collect-one = { $v } arrived at { $name }.
collect-used = { $name } was used { $count ->
    [2] twice
    [3] three times
   *[other] { $count } times
}: { $sum }.
collect-used-some = { $name } was used { $count ->
    [2] twice
    [3] three times
   *[other] { $count } times
}; gradients came from { $arrived } of these uses: { $sum }.
collect-seeds = The pass starts at { $name } with { $count } seeds: { $sum }.
collect-seed-and-uses = { $name } got { $count } gradients, { $seeds ->
    [one] the seed
   *[other] { $seeds } seeds
} among them: { $sum }.
collect-outputs = Of { $count } outputs of { $op }, { $arrived } received a gradient: { $list }.
collect-outputs-all = Each of the { $count } outputs of { $op } received a gradient: { $list }.
collect-outputs-count = Of { $count } outputs of { $op }, { $arrived } received a gradient.
collect-short = { $count ->
    [one] One gradient
   *[other] { $count } gradients
} arrived here.
sum-of-shapes = { $count } gradients of shape { $shape } are added up
value-at = { $value } at { $name }

## 2 local rule

rule-leaf = { $name } is a leaf: it has no rule, it keeps what arrives.
rule-view-write = Part of a tensor was written over: the rest keeps its gradient, the part's goes to what was written.
rule-custom = `{ $op }.backward` is the rule: your own code ran.
rule-derivative = { $equations }.
rule-derivative-saved = { $equations }; { $saved }.
saved-as = { $name } was saved as { $value }
saved-as-too = { $name } as { $value }
rule-same-operand = Both operands of { $output } are { $name }: the derivative for each use is { $derivative }.
rule-same-operand-saved = Both operands of { $output } are { $name }: the derivative for each use is { $derivative } = { $value }.
rule-number = At this point the derivative of { $op } is { $value }.
rule-vjp = { $products }.
rule-vjp-for = for { $name } the rule is { $rule }
rule-vjp-for-too = for { $name } it is { $rule }
rule-sum-all = { $op } adds up the entries of { $name }: every entry gets a copy of { $v }.
rule-sum-some = Each entry of { $op } is a sum over entries of { $name }: each of these gets a copy of its `v`.
rule-mean-all = { $op } averages the { $count } entries of { $name }: each gets { $v } divided by { $count }.
rule-mean-some = Each entry of { $op } averages { $count } entries of { $name }: each of these gets its `v` divided by { $count }.
rule-reduction = Entries of { $name } were combined into one: each gets the `v` of its result, times its weight.
rule-broadcast = { $name } was repeated to fit { $output }: the gradients of all copies are added up.
rule-repeated = Entries of { $name } were used several times: the gradients of all uses are added up.
rule-part-of = { $name } is part of { $output }: it gets its part of `v`.
rule-parts = Each operand is part of { $output }: it gets its part of `v`.
rule-selection = { $op } picked entries of { $name }: these get their `v`, the others 0.
rule-apart = { $op } took { $name } apart: the `v`'s of the parts are put together again.
rule-moves = { $op } moved the entries of { $name }: backward moves those of `v` back.
rule-reshape = { $op } left every entry of { $name } as it was: `v` goes through, in the shape of { $name }.
rule-diagonal = Each entry of { $name } has a derivative of its own: { $factors }.
rule-diagonal-many = Each entry of { $name } has a derivative of its own, and its own entry of `v` to multiply.
rule-zero = A small change of { $name } changes nothing here: its derivative is 0.
rule-jacobian = The local Jacobian of { $op } is { $rows } × { $columns }: a row per entry of its result, a column per entry of its operand.
no-formula-failed = No formula is shown: evaluated on the saved values, the written one does not give what the engine returned.
no-formula-here = No formula is shown: none is written for { $op } with these operands.
no-formula-mask = No formula is shown: how a mask and further indices meet is known only while the program runs.
no-formula-matrix = No formula is shown: it needs a matrix per line, which would be too large.
no-formula-sizes = No formula is shown: the sizes of the other operands are not known here.
no-formula-scales = No formula is shown: a scale was given for some dimensions only.
no-formula-unrolled = No formula is shown: unrolled over all moments it would be too long to be read.
no-formula-window = No formula is shown: the node does not save how its operand lies in memory.
rule-plain = This is the rule of { $op }.

## 3 multiply

multiply-leaf = Nothing is multiplied at a leaf.
multiply-not-wanted = Nothing is multiplied: no operand of { $op } needs a gradient here.
multiply-nothing-arrived = Nothing is multiplied: no gradient arrived at { $op }.
multiply-returned-none = { $op } returned None: no gradient goes on from here.
multiply-returned-undefined = { $op } returned nothing: no gradient goes on from here.
multiply-products = { $products }.
product-for = for { $name }: { $product }
product-each = { $product } for each use of { $name }
multiply-custom-returned = `{ $op }.backward` returned { $results }.
multiply-returned = { $op } returned { $results }.
multiply-custom = `{ $op }.backward` turned { $v } into { $results }.
multiply-matrices = { $products }.
matrix-product = { $rule } is { $left } @ { $right } = { $shape } for { $name }
multiply-rule = With { $v }, { $rule } gives { $result }.
multiply-entries = Entry by entry, { $v } times { $derivative } gives { $result }.
multiply-jacobian = { $v } times the local Jacobian gives { $results }.
multiply-jacobians = { $vs }, each times its local Jacobian, add up to { $results }.
multiply-shapes = { $v } times the local Jacobians gives gradients of shapes { $shapes }.
multiply-count = `v` times the local Jacobians gives { $count ->
    [one] one gradient
   *[other] { $count } gradients
}.
result-for = { $value } for { $name }

## 4 send and 5 land

send-none = Nothing is sent on.
send-leaf = Nothing is sent on: the way ends here.
send-list = { $list }.
goes-to = { $value } goes to { $name }
go-to = { $values } go to { $name }
send-returned-none = { $op } returned None for { $name }
send-not-required = { $name } does not require grad
send-count = { $count } gradients are sent on, one per operand.
land-none = Nothing lands: no gradient left this node.
land-list = { $list }.
waits-at = { $value } waits at { $name }
wait-at = { $values } wait at { $name }
land-count = { $count } gradients land, one per operand.

leaf-first = `{ $leaf }.grad` was None, now it is { $after }.
leaf-first-short = `{ $leaf }.grad` was None and is set now.
leaf-added = `{ $leaf }.grad`: { $sum }.
leaf-changed = `{ $leaf }.grad` was { $before }, now it is { $after }.
leaf-added-shape = { $arrived } is added to `{ $leaf }.grad`.
leaf-none = `{ $leaf }.grad` is still None.

## What happened beside the rule

hook-in-line = the hook in line { $line }
hook-somewhere = a hook
hook-made = { $who } made it { $value }
hook-changed = { $who } changed it
hook-cleared = { $who } set it to None
fact-hooks = Then { $list }.
fact-at = at { $name }, { $made }
fact-seed-cast = The seed is { $from }; the engine cast it to { $to }.
fact-zeros = Nothing arrived at { $name }; { $rule } gets zeros.
fact-saved-was = { $name } held { $was } when it was saved and holds { $now } now, written behind autograd's back: backward computes with { $now }.
fact-saved-changed = { $name } was written behind autograd's back after it was saved: backward computes with the new values.
fact-changed = { $rule } returned { $before } for { $name }; { $changes }
change-sum = the engine summed it to { $value }
change-cast = the engine cast it to { $dtype }, { $value }
entry-of = { $name } at { $entry }
fact-nan = `v` is 0 and `J` infinite for { $where }: 0 · ∞ = NaN.
fact-nans = `v` is 0 and `J` infinite for { $where } and { $count } more: 0 · ∞ = NaN.
fact-dropped = { $rule } computed { $value } for { $name } too; the engine drops it.

pass-examples = `vmap` runs { $count } examples at once: each has its own `v`, its own local Jacobians and its own result.
pass-materialized = Nothing arrived at { $names }: `materialize_grads=True` made zeros of that.
input-number = input { $number }
chip-now = now
chip-behind = written behind autograd's back
problem-caught = The program caught this error and went on.

whole = { $op }: { $came } came in; { $then }
whole-nothing = { $op }: nothing came in; { $then }
whole-gradients = { $count } gradients

## The forward walk

forward-called = { $op } is called.
forward-gets = { $op } gets { $operands }.
forward-computes = { $op } computes { $results }.
forward-computes-result = { $op } computes its result.
forward-result = its result
forward-is = { $name } = { $value }
forward-shape = { $name } of shape { $shape }
forward-saves = { $op } saves { $tensors } for backward.
forward-saves-besides = { $op } saves { $tensors } for backward, and { $count ->
    [one] one plain value
   *[other] { $count } plain values
}.
forward-saves-plain = { $op } saves no tensor for backward, only { $count ->
    [one] one plain value
   *[other] { $count } plain values
}.
forward-saves-nothing = { $op } saves nothing for backward.
forward-raises = { $op } raises: { $title }.

## Where a derivative comes from

jacobian-own = J as your backward computes it
jacobian-true = true J = { $partial }, by finite differences of forward
origin-table = PyTorch { $version } has this operation in `derivatives.yaml`: { $lines }.
origin-no-line = `derivatives.yaml` of PyTorch { $version } has no line for this node.
origin-function = Your Function { $name } has the derivative.
origin-function-in-line = Your Function { $name } has the derivative: its `backward` in line { $line }.
origin-composite = It is a part of { $label }, which is composite in PyTorch { $version } (CompositeImplicit, or Python): built of other operations, each with a derivative of its own.

## Why there is no gradient, and what to write instead

warning-times = { $category }, { $count } times
also-others = The same holds for { $names }.
also-others-more = The same holds for { $names } and { $count } more.
instead-detach = Leave out `.{ $call }()` there if the gradient should reach { $leaf }.
instead-data = Write { $leaf } instead of `{ $leaf }.data` if the gradient should reach it.
instead-numbers = Compute with the tensor itself instead of the number that { $call } reads out of it.
instead-no-grad = Move that computation out of the `no_grad` block if the gradient should go through it.
instead-rebuilt = `torch.{ $call }` copies values. Use the tensor itself, or join tensors by `torch.stack` or `torch.cat`.
instead-discrete = Whole numbers and booleans have no slope. Compute with what they were made from (softmax instead of argmax, for example).
instead-cut = Use an operation of torch that keeps the history.
instead-unused = Use { $leaf } in what backward starts from.
instead-not-in-output = Add what was computed there to what backward starts from.
instead-integer = Make it of floating point: `{ $leaf }.float().requires_grad_()`.
instead-not-required = Make it with `requires_grad=True`, or call `{ $leaf }.requires_grad_()` before it is used.
instead-frozen = Call `{ $leaf }.requires_grad_(True)` before it is used, if it should learn.
instead-reassigned = Keep the first tensor under a name of its own, or change it in place under `torch.no_grad()`.

## Asking

from-program = The program starts { $passes } itself{ $where }, so v comes from there.
from-one-pass = the backward pass
from-passes = its { $count } backward passes
from-line = {" "}in line { $line }
from-first-line = , first in line { $line }
from-lines = {" "}in lines { $lines }
hint-shape = A shape, such as [3, 2].
hint-sign = Choose one.
hint-nodes = Tick at least one.
hint-number = A number, such as 6 or −0.5.
hint-numbers = { $count } numbers, such as { $sample }.

## Problems: what stopped the program (a sentence, a title, a hint)

## Refusals: what a program here may not use

## Problems of the server and of requests

## What older versions wrote out

told = { $text }
problem-told = { $text }
    .title = { $title }
problem-told-hint = { $text }
    .title = { $title }
    .hint = { $hint }

## Why there is no gradient

## Findings and notes

note-input = The input `{ $name }` was not used: the program has no place for it.
note-compiled = `torch.compile` ran eagerly here: compiled, the whole function would be one opaque node. Operation by operation it computes the same gradients, up to rounding.
note-compiled-in-line = `torch.compile` in line { $line } ran eagerly: compiled, the whole function would be one opaque node. Operation by operation it computes the same gradients, up to rounding.

## Checks by finite differences

## Why a rule is what it is

## The page: code, inputs, v

page-language = Language
page-language-auto = The reader’s own

## The page: lesson, rooms, sharing

## The player: stage, callout, panels

## Questions and answers

## Examples

## The command line
