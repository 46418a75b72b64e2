# Was Seite, Bilder, Folien, Notebooks und die Kommandozeile auf Deutsch sagen.
# Dieselben Schlüssel und Operanden wie en.ftl. Wörter aus PyTorch bleiben stehen (grad_output, leaf, hook); wofür es
# ein deutsches Fachwort gibt, steht dieses: Gradient, Blatt, lokale Jacobi-Matrix, Rückwärtsdurchlauf.

## Phases

phase-start = Start
phase-collect = sammeln
phase-local-rule = lokale Regel
phase-multiply = multiplizieren
phase-send = senden
phase-land = ankommen
phase-arrive = eingehen
phase-compute = rechnen
phase-save = speichern

## Values

nothing = nichts
value-gradient = ein Gradient der Form { $shape }
value-unseen = ?
v-is = `v` = { $value }
v-of-shape = `v` der Form { $shape }
v-of-output = `v` = { $value } für { $output }
v-of-output-shape = `v` der Form { $shape } für { $output }
fact-unknown = Diese Aufzeichnung stammt von einem neueren gradwalk; für eine Angabe darin ({ $kind }) fehlen dieser Seite die Worte.

## Lists and names

code = `{ $text }`
and = { $first } und { $last }
comma = { $first }, { $rest }
semicolon = { $first }; { $rest }
and-more = { $first } und { $count } weitere
result-in-line = das Ergebnis von { $op } in Zeile { $line }
result-of = das Ergebnis von { $op }
result-born = das Ergebnis von { $op } im Rückwärtsdurchlauf von Zeile { $line }
output-of = Ausgang { $number } von { $op }

operand-number = Operand { $number }
operand-use = { $name }, Verwendung { $number }
constant = eine Konstante

## What a local Jacobian looks like

structure-scalar = eine Zahl
structure-diagonal = diagonal: jeder Eintrag skaliert nur sich selbst
structure-permutation = Permutation: verschiebt Einträge, ändert keinen
structure-selection = Auswahl: greift Einträge heraus
structure-copies = Wiederholung: rückwärts werden die Kopien addiert
structure-reduction = Summe oder Mittel: rückwärts bekommt jeder Eintrag eine Kopie von `v`
structure-kronecker = wiederholte Blöcke: ein Matrixprodukt
structure-dense = kein einfaches Muster: die Einträge sind verschieden
structure-zero = nur Nullen: hier geht nichts zurück
structure-too-large = zu groß, um sie hinzuschreiben

## Before anything has run

start-program = Vor dem Programm: noch ist nichts berechnet.
start-pass = Vor dem Durchlauf: er beginnt bei { $names }; noch ist kein Gradient berechnet.
start-output = der Ausgabe
start-waiting = Warten auf den ersten Rückwärtsdurchlauf.
start-none = Das Programm hat keinen Rückwärtsdurchlauf gestartet.
step-awaited = Dieser Schritt ist noch nicht da.

## 1 collect: what arrived at a node

collect-none = Bei { $name } kam kein Gradient an; undefiniert wirkt wie null.
collect-seed = Der Durchlauf beginnt bei { $name } mit dem Seed `v` = { $v }.
collect-seed-shape = Der Durchlauf beginnt bei { $name } mit einem Seed `v` der Form { $shape }.
collect-one = Bei { $name } kam an: { $v }.
collect-used = { $name } wurde { $count ->
    [2] zweimal
    [3] dreimal
   *[other] { $count }-mal
} verwendet: { $sum }.
collect-used-some = { $name } wurde { $count ->
    [2] zweimal
    [3] dreimal
   *[other] { $count }-mal
} verwendet; Gradienten kamen von { $arrived } dieser Verwendungen: { $sum }.
collect-seeds = Der Durchlauf beginnt bei { $name } mit { $count } Seeds: { $sum }.
collect-seed-and-uses = { $name } bekam { $count } Gradienten, darunter { $seeds ->
    [one] den Seed
   *[other] { $seeds } Seeds
}: { $sum }.
collect-outputs = Von { $count } Ausgängen von { $op } bekamen { $arrived } einen Gradienten: { $list }.
collect-outputs-all = Jeder der { $count } Ausgänge von { $op } bekam einen Gradienten: { $list }.
collect-outputs-count = Von { $count } Ausgängen von { $op } bekamen { $arrived } einen Gradienten.
collect-short = { $count ->
    [one] Hier kam ein Gradient an.
   *[other] Hier kamen { $count } Gradienten an.
}
sum-of-shapes = { $count } Gradienten der Form { $shape } werden addiert
value-at = { $value } bei { $name }

## 2 local rule

rule-leaf = { $name } ist ein Blatt: Es hat keine Regel, es behält, was ankommt.
rule-view-write = Ein Teil eines Tensors wurde überschrieben: Der Rest behält seinen Gradienten, der des Teils geht an das Geschriebene.
rule-custom = Die Regel ist `{ $op }.backward`: Dein eigener Code lief.
rule-derivative = { $equations }.
rule-derivative-saved = { $equations }; { $saved }.
saved-as = { $name } wurde als { $value } gespeichert
saved-as-too = { $name } als { $value }
rule-same-operand = Beide Operanden von { $output } sind { $name }: Die Ableitung ist für jede Verwendung { $derivative }.
rule-same-operand-saved = Beide Operanden von { $output } sind { $name }: Die Ableitung ist für jede Verwendung { $derivative } = { $value }.
rule-number = An dieser Stelle hat die Ableitung von { $op } den Wert { $value }.
rule-vjp = { $products }.
rule-vjp-for = für { $name } lautet die Regel { $rule }
rule-vjp-for-too = für { $name } lautet sie { $rule }
rule-sum-all = { $op } addiert die Einträge von { $name }: Jeder Eintrag bekommt eine Kopie von { $v }.
rule-sum-some = Jeder Eintrag von { $op } ist eine Summe von Einträgen von { $name }: Jeder von ihnen bekommt eine Kopie seines `v`.
rule-mean-all = { $op } mittelt die { $count } Einträge von { $name }: Jeder bekommt { $v } geteilt durch { $count }.
rule-mean-some = Jeder Eintrag von { $op } mittelt { $count } Einträge von { $name }: Jeder von ihnen bekommt sein `v` geteilt durch { $count }.
rule-reduction = Einträge von { $name } wurden zu einem zusammengefasst: Jeder bekommt das `v` seines Ergebnisses, mal sein Gewicht.
rule-broadcast = { $name } wurde wiederholt, um zu { $output } zu passen: Die Gradienten aller Kopien werden addiert.
rule-repeated = Einträge von { $name } wurden mehrmals verwendet: Die Gradienten aller Verwendungen werden addiert.
rule-part-of = { $name } ist ein Teil von { $output }: Es bekommt seinen Teil von `v`.
rule-parts = Jeder Operand ist ein Teil von { $output }: Er bekommt seinen Teil von `v`.
rule-selection = { $op } hat Einträge von { $name } ausgewählt: Diese bekommen ihr `v`, die anderen 0.
rule-apart = { $op } hat { $name } zerlegt: Die `v` der Teile werden wieder zusammengesetzt.
rule-moves = { $op } hat die Einträge von { $name } verschoben: Rückwärts wandern die von `v` zurück.
rule-reshape = { $op } ließ jeden Eintrag von { $name }, wie er war: `v` geht durch, in der Form von { $name }.
rule-diagonal = Jeder Eintrag von { $name } hat seine eigene Ableitung: { $factors }.
rule-diagonal-many = Jeder Eintrag von { $name } hat seine eigene Ableitung und wird mit seinem eigenen Eintrag von `v` multipliziert.
rule-zero = Eine kleine Änderung von { $name } ändert hier nichts: Die Ableitung ist 0.
rule-jacobian = Die lokale Jacobi-Matrix von { $op } ist { $rows } × { $columns }: eine Zeile je Eintrag des Ergebnisses, eine Spalte je Eintrag des Operanden.
no-formula-failed = Hier steht keine Formel: Mit den gespeicherten Werten ergibt die geschriebene nicht, was die Engine zurückgab.
no-formula-here = Hier steht keine Formel: Für { $op } mit diesen Operanden ist keine geschrieben.
no-formula-mask = Hier steht keine Formel: Wie eine Maske und weitere Indizes zusammentreffen, ist erst bekannt, wenn das Programm läuft.
no-formula-matrix = Hier steht keine Formel: Sie bräuchte eine Matrix je Zeile und würde zu groß.
no-formula-sizes = Hier steht keine Formel: Die Größen der anderen Operanden sind hier nicht bekannt.
no-formula-scales = Hier steht keine Formel: Ein Maßstab wurde nur für manche Dimensionen angegeben.
no-formula-unrolled = Hier steht keine Formel: Über alle Zeitpunkte ausgeschrieben wäre sie zu lang zum Lesen.
no-formula-window = Hier steht keine Formel: Der Knoten speichert nicht, wie sein Operand im Speicher liegt.
rule-plain = Das ist die Regel von { $op }.

## 3 multiply

multiply-leaf = An einem Blatt wird nichts multipliziert.
multiply-not-wanted = Nichts wird multipliziert: Kein Operand von { $op } braucht hier einen Gradienten.
multiply-nothing-arrived = Nichts wird multipliziert: Bei { $op } kam kein Gradient an.
multiply-returned-none = { $op } gab None zurück: Von hier geht kein Gradient weiter.
multiply-returned-undefined = { $op } gab nichts zurück: Von hier geht kein Gradient weiter.
multiply-products = { $products }.
product-for = für { $name }: { $product }
product-each = { $product } für jede Verwendung von { $name }
multiply-custom-returned = `{ $op }.backward` gab { $results } zurück.
multiply-returned = { $op } gab { $results } zurück.
multiply-custom = `{ $op }.backward` machte aus { $v }: { $results }.
multiply-matrices = { $products }.
matrix-product = { $rule } ist { $left } @ { $right } = { $shape } für { $name }
multiply-rule = Mit { $v } ergibt { $rule }: { $result }.
multiply-entries = Eintrag für Eintrag ergibt { $v } mal { $derivative }: { $result }.
multiply-jacobian = { $v } mal die lokale Jacobi-Matrix ergibt { $results }.
multiply-jacobians = { $vs }, jedes mal seine lokale Jacobi-Matrix, ergeben addiert { $results }.
multiply-shapes = { $v } mal die lokalen Jacobi-Matrizen ergibt Gradienten der Formen { $shapes }.
multiply-count = `v` mal die lokalen Jacobi-Matrizen ergibt { $count ->
    [one] einen Gradienten
   *[other] { $count } Gradienten
}.
result-for = { $value } für { $name }

## 4 send and 5 land

send-none = Nichts wird weitergeschickt.
send-leaf = Nichts wird weitergeschickt: Hier endet der Weg.
send-list = { $list }.
goes-to = { $value } geht an { $name }
go-to = { $values } gehen an { $name }
send-returned-none = { $op } gab für { $name } None zurück
send-not-required = { $name } braucht keinen Gradienten
send-count = { $count } Gradienten werden weitergeschickt, einer je Operand.
land-none = Nichts kommt an: Kein Gradient hat diesen Knoten verlassen.
land-list = { $list }.
waits-at = { $value } wartet bei { $name }
wait-at = { $values } warten bei { $name }
land-count = { $count } Gradienten kommen an, einer je Operand.

leaf-first = `{ $leaf }.grad` war None, jetzt ist es { $after }.
leaf-first-short = `{ $leaf }.grad` war None und ist jetzt gesetzt.
leaf-added = `{ $leaf }.grad`: { $sum }.
leaf-changed = `{ $leaf }.grad` war { $before }, jetzt ist es { $after }.
leaf-added-shape = { $arrived } wird zu `{ $leaf }.grad` addiert.
leaf-none = `{ $leaf }.grad` ist immer noch None.

## What happened beside the rule

hook-in-line = der Hook in Zeile { $line }
hook-somewhere = ein Hook
hook-made = { $who } machte daraus { $value }
hook-changed = { $who } änderte es
hook-cleared = { $who } setzte es auf None
fact-hooks = Danach: { $list }.
fact-at = bei { $name }: { $made }
fact-seed-cast = Der Seed ist { $from }; die Engine hat ihn in { $to } umgewandelt.
fact-zeros = Bei { $name } kam nichts an; { $rule } bekommt Nullen.
fact-saved-was = { $name } war beim Speichern { $was } und ist jetzt { $now }, an autograd vorbei überschrieben: backward rechnet mit { $now }.
fact-saved-changed = { $name } wurde nach dem Speichern an autograd vorbei überschrieben: backward rechnet mit den neuen Werten.
fact-changed = { $rule } gab für { $name } zurück: { $before }; { $changes }
change-sum = die Engine summierte zu { $value }
change-cast = die Engine wandelte um in { $dtype }, { $value }
entry-of = { $name } bei { $entry }
fact-nan = Für { $where } ist `v` 0 und `J` unendlich: 0 · ∞ = NaN.
fact-nans = Für { $where } und { $count } weitere Stellen ist `v` 0 und `J` unendlich: 0 · ∞ = NaN.
fact-dropped = { $rule } hat für { $name } auch { $value } berechnet; die Engine verwirft es.

pass-examples = `vmap` rechnet mit { $count } Beispielen zugleich: Jedes hat sein eigenes `v`, seine eigenen lokalen Jacobi-Matrizen und sein eigenes Ergebnis.
pass-materialized = Bei { $names } kam nichts an: `materialize_grads=True` hat daraus Nullen gemacht.
input-number = Eingabe { $number }
chip-now = jetzt
chip-behind = an autograd vorbei überschrieben
problem-caught = Das Programm hat diesen Fehler abgefangen und lief weiter.

whole = { $op }: { $came } kam an; { $then }
whole-nothing = { $op }: nichts kam an; { $then }
whole-gradients = { $count } Gradienten

## The forward walk

forward-called = { $op } wird aufgerufen.
forward-gets = { $op } bekommt { $operands }.
forward-computes = { $op } berechnet { $results }.
forward-computes-result = { $op } berechnet sein Ergebnis.
forward-result = sein Ergebnis
forward-is = { $name } = { $value }
forward-shape = { $name } der Form { $shape }
forward-saves = { $op } speichert { $tensors } für backward.
forward-saves-besides = { $op } speichert { $tensors } für backward, dazu { $count ->
    [one] einen einfachen Wert
   *[other] { $count } einfache Werte
}.
forward-saves-plain = { $op } speichert keinen Tensor für backward, nur { $count ->
    [one] einen einfachen Wert
   *[other] { $count } einfache Werte
}.
forward-saves-nothing = { $op } speichert nichts für backward.
forward-raises = { $op } bricht ab: { $title }.

## Where a derivative comes from

jacobian-own = J, wie dein backward sie berechnet
jacobian-true = wahre J = { $partial }, mit Differenzenquotienten von forward
origin-table = PyTorch { $version } hat diese Operation in `derivatives.yaml`: { $lines }.
origin-no-line = `derivatives.yaml` von PyTorch { $version } hat keine Zeile für diesen Knoten.
origin-function = Die Ableitung steht in deiner Function { $name }.
origin-function-in-line = Die Ableitung steht in deiner Function { $name }: ihr `backward` in Zeile { $line }.
origin-composite = Der Knoten ist ein Teil von { $label }. Das ist in PyTorch { $version } zusammengesetzt (CompositeImplicit oder Python): aus anderen Operationen, jede mit eigener Ableitung.
