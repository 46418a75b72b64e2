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
then = { $first } { $rest }
and-more = { $first } und { $count } weitere
result-in-line = { $op } in Zeile { $line }
result-of = { $op }
result-born = { $op } im Rückwärtsdurchlauf von Zeile { $line }
call-in-line = `{ $call }` in Zeile { $line }
node-in-line = { $op } (Zeile { $line })

operand-grad-output = grad_output von Durchlauf { $pass }
operand-number = Operand { $number }
operand-use = { $name }, Verwendung { $number }
constant = eine Konstante

## What a local Jacobian looks like

structure-scalar = eine Zahl
structure-diagonal = diagonal: jeder Eintrag skaliert nur sich selbst
structure-permutation = Permutation: verschiebt Einträge, ändert keinen
structure-selection = Auswahl: greift Einträge heraus
structure-copies = jeder Eintrag mehrmals verwendet: rückwärts werden die Verwendungen addiert
structure-scaled-copies = jeder Eintrag mehrmals verwendet, jedes Mal mit einem Faktor: rückwärts wird `v` mal die Faktoren addiert
structure-reduction = mehrere Einträge gehen in jedes Ergebnis ein: jeder bekommt sein `v` mal sein Gewicht
structure-sum = Summe: rückwärts bekommt jeder Eintrag eine Kopie von `v`
structure-share = Summe mit einem Gewicht für alle: jeder Eintrag bekommt denselben Anteil von `v`
structure-weighted = gewichtete Summe: jeder Eintrag bekommt `v` mal sein eigenes Gewicht
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
start-raised = Das Programm machte keinen Rückwärtsdurchlauf: { $title }.
step-awaited = Dieser Schritt ist noch nicht da.
arrange-before = { $call } hat sein `v`. PyTorch reicht es zuerst in der Form { $shape } weiter ({ $op }): dieselben Zahlen.
arrange-after = Was { $call } zurückgab, kommt in die Form { $shape } ({ $op }): dieselben Zahlen.
arrange-sum = Was { $call } zurückgab, wird über das Wiederholte addiert und hat dann die Form { $shape } ({ $op }).
arrange-nothing = { $op }, ein Teil von { $call }, hat nichts weiterzureichen.
inside-call = In { $call }: { $said }
inside-rule = { $op } ist ein Teil davon; die Regel ist die aller Teile zusammen.

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
collect-outputs = Gradienten kamen an { $arrived } von { $count } Ausgängen von { $op } an: { $list }.
collect-outputs-all = Jeder der { $count } Ausgänge von { $op } bekam einen Gradienten: { $list }.
collect-outputs-each = Alle { $count } Ausgänge bekamen einen Gradienten.
collect-outputs-count = Gradienten kamen an { $arrived } von { $count } Ausgängen von { $op } an.
collect-short = { $count ->
    [one] Hier kam ein Gradient an.
   *[other] Hier kamen { $count } Gradienten an.
}
sum-of-shapes = { $count } Gradienten der Form { $shape } werden addiert
value-at = { $value } bei { $name }

## 2 local rule

rule-view-write = Ein Teil eines Tensors wurde überschrieben: Der Rest behält seinen Gradienten, der des Teils geht an das Geschriebene.
rule-custom = Die Regel ist `{ $op }.backward`: Dein eigener Code lief.
rule-derivative = { $equations }.
rule-derivative-saved = { $equations }; { $saved }.
derivative-alone = die Ableitung ist { $derivative }
derivative-by-use = durch diese Verwendung von { $name } ist die Ableitung { $derivative }
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
rule-reduction = Mehrere Einträge von { $name } gehen in jedes Ergebnis ein: Jeder bekommt das `v` seines Ergebnisses, mal sein Gewicht.
rule-added = Mehrere Einträge von { $name } wurden zu einem Ergebnis addiert: jeder bekommt dessen `v`.
rule-overwritten = Mehrere Einträge von { $name } wurden an eine Stelle geschrieben, wo einer blieb: backward gibt jedem deren `v`.
rule-broadcast = { $name } wurde wiederholt, um zu { $output } zu passen: Die Gradienten aller Kopien werden addiert.
rule-repeated = Einträge von { $name } wurden mehrmals verwendet: Die Gradienten aller Verwendungen werden addiert.
rule-lookup-mean = Jede Zeile von { $name } bekommt die `v` ihrer Verwendungen, geteilt durch deren Anzahl.
rule-lookup-padding = Jede Zeile von { $name } bekommt die Summe der `v` ihrer Verwendungen; Zeile { $row } füllt nur auf und bekommt 0.
rule-part-of = { $name } ist ein Teil von { $output } und bekommt seinen Teil von `v`.
rule-parts = Jeder Operand ist ein Teil von { $output } und bekommt seinen Teil von `v`.
rule-selection = { $op } hat Einträge von { $name } ausgewählt: Diese bekommen ihr `v`, die anderen 0.
rule-apart = { $op } hat { $name } zerlegt: Die `v` der Teile werden wieder zusammengesetzt.
rule-moves = { $op } hat die Einträge von { $name } verschoben: Rückwärts wandern die von `v` zurück.
rule-reshape = { $op } ließ jeden Eintrag von { $name }, wie er war: `v` geht durch, in der Form von { $name }.
rule-diagonal = Jeder Eintrag von { $name } hat seine eigene Ableitung: { $factors }.
rule-diagonal-many = Jeder Eintrag von { $name } hat seine eigene Ableitung und wird mit seinem eigenen Eintrag von `v` multipliziert.
rule-zero = Eine kleine Änderung von { $name } ändert hier nichts: Die Ableitung ist 0.
rule-jacobian = Die lokale Jacobi-Matrix von { $op } ist { $rows } × { $columns }.
no-formula-failed = Hier steht keine Formel: Mit den gespeicherten Werten ergibt die geschriebene nicht, was die Engine zurückgab.
no-formula-here = Hier steht keine Formel: Für { $op } mit diesen Operanden ist keine geschrieben.
no-formula-mask = Hier steht keine Formel: Wie eine Maske und weitere Indizes zusammentreffen, ist erst bekannt, wenn das Programm läuft.
no-formula-matrix = Hier steht keine Formel: Sie bräuchte eine Matrix je Zeile und würde zu groß.
no-formula-sizes = Hier steht keine Formel: Die Größen der anderen Operanden sind hier nicht bekannt.
no-formula-scales = Hier steht keine Formel: Ein Maßstab wurde nur für manche Dimensionen angegeben.
no-formula-unrolled = Hier steht keine Formel: Über alle Zeitpunkte ausgeschrieben wäre sie zu lang zum Lesen.
no-formula-window = Hier steht keine Formel: Der Knoten speichert nicht, wie sein Operand im Speicher liegt.
no-formula-yet = Die Formel wird noch geprüft.
rule-plain = Das ist die Regel von { $op }.

## 3 multiply

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
multiply-jacobian = { $v } mal die lokale Jacobi-Matrix ist { $results }.
multiply-jacobians = { $vs }, jedes mal seine lokale Jacobi-Matrix: Die Summe ist { $results }.
multiply-shape = { $v } mal die lokale Jacobi-Matrix ergibt einen Gradienten der Form { $shape }.
multiply-unbuilt = { $v } mal J ist { $results }. J selbst bräuchte { $full }: Es wird nie gebildet.
multiply-shapes = { $v } mal die lokalen Jacobi-Matrizen ergibt Gradienten der Formen { $shapes }.
multiply-count = { $count ->
    [one] Ein Gradient wird zurückgegeben.
   *[other] { $count } Gradienten werden zurückgegeben.
}
multiply-placed = { $v } geht dorthin zurück, woher die Einträge kamen: { $result }.
result-for = { $value } für { $name }

## 4 send and 5 land

send-none = nichts wird weitergeschickt.
send-list = { $list }.
goes-to = { $value } geht an { $name }
go-to = { $values } gehen an { $name }
send-returned-none = { $op } gab für { $name } None zurück
send-not-required = { $name } braucht keinen Gradienten
send-each = je ein Gradient geht an { $names }.
send-count = { $count } Gradienten werden weitergeschickt, einer je Operand.
land-none = Nichts kommt an: Kein Gradient hat diesen Knoten verlassen.
land-list = { $list }.
waits-at = { $value } wartet bei { $name }
wait-at = { $values } warten bei { $name }
land-each = Je ein Gradient wartet bei { $names }.
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
shared-write = das Schreiben in Zeile { $line } in einen gemeinsamen Tensor
shared-write-somewhere = ein Schreiben in einen gemeinsamen Tensor
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

jacobian-own = J deines backward
jacobian-true = wahre J = { $partial }, mit Differenzenquotienten von forward
origin-table = PyTorch { $version } hat diese Operation in `derivatives.yaml`.
origin-no-line = `derivatives.yaml` von PyTorch { $version } hat keine Zeile für diesen Knoten.
origin-choice = Eine Function ist für Code außerhalb von torch (NumPy, C++) oder für einen anderen Gradienten: torch-Code ist zusammengesetzt, PyTorchs eigener steht in `derivatives.yaml`.
origin-composite = { $label } ist in PyTorch { $version } zusammengesetzt (CompositeImplicit, oder Python): aus anderen Operationen, jede mit einer eigenen Ableitung.

## Warnings

warning-times = { $category }, { $count }-mal

## Asking

hint-shape = Eine Form, etwa [3, 2].
hint-sign = Wähle eins.
hint-nodes = Kreuze mindestens einen an.
hint-number = Eine Zahl, etwa 6 oder −0.5.
hint-numbers = { $count } Zahlen, etwa { $sample }.

## Problems: what stopped the program (a sentence, a title, a hint)

problem-words = Die Fehlermeldung lautet: „{ $words }“
problem-raised = „{ $text }“
    .title = { $name }
problem-raised-near = „{ $text }“
    .title = { $name }
    .hint = Meintest du `{ $near }`?
problem-raised-silent = Das Programm hat `{ $name }` ausgelöst.
    .title = { $name }
problem-unknown-name = Python meldet: „{ $text }“
    .title = Unbekannter Name
    .hint = { $instead }
problem-assign-first = Weise ihm einen Wert zu, bevor du ihn verwendest, oder importiere ihn.
problem-import-first = Schreib `{ $line }` an den Anfang des Programms.
problem-name-near = Meintest du `{ $name }`?
problem-exited-with = Es hat `sys.exit` oder `exit` mit `{ $code }` aufgerufen. Was vorher lief, ist zu sehen; ein Rückwärtsdurchlauf, der danach gekommen wäre, nicht.
    .title = Das Programm hat sich selbst beendet
    .hint = Entferne den Aufruf von `exit`.
problem-out-of-time = Das Programm lief länger als erlaubt. Was bis dahin aufgezeichnet wurde, ist zu sehen.
    .title = Zeit abgelaufen
    .hint = Nimm weniger Iterationen oder kleinere Tensoren, oder prüf, ob eine Schleife auf etwas wartet, das nie eintritt.
problem-interrupted = Das Programm wurde unterbrochen. Was bis dahin aufgezeichnet wurde, ist zu sehen.
    .title = Unterbrochen
problem-recursion = Eine Funktion ruft sich selbst auf, direkt oder über andere, bis Python nach etwa tausend verschachtelten Aufrufen aufgibt.
    .title = Aufrufe zu tief verschachtelt
    .hint = Prüf die Bedingung, die die Rekursion beenden soll, oder nimm eine Schleife.
problem-recursion-recorded = Die Funktionen des Programms rufen einander so tief auf, dass Python kein Platz zum Aufzeichnen bleibt. Was davor zu sehen ist, stimmt; was das Programm danach tat, ist nicht aufgezeichnet.
    .title = { problem-recursion.title }
    .hint = { problem-recursion.hint }
problem-memory = Das Programm hat mehr Speicher verlangt, als es haben darf.
    .title = Nicht genug Speicher
    .hint = Nimm kleinere Tensoren oder kürzere Listen.
problem-memory-tensor = Das Programm hat einen Tensor verlangt, der größer ist als der Speicher, den es haben darf.
    .title = { problem-memory.title }
    .hint = Nimm kleinere Formen.
problem-memory-recorded = Das Programm und seine Aufzeichnung brauchen mehr Speicher, als sie haben dürfen. Was davor zu sehen ist, stimmt; was das Programm danach tat, ist nicht aufgezeichnet.
    .title = { problem-memory.title }
    .hint = Nimm kleinere Tensoren, kürzere Listen oder weniger Iterationen.
problem-internal = Beim Aufzeichnen ist gradwalk selbst mit `{ $name }` gescheitert. Das Programm lief weiter; was davor zu sehen ist, stimmt.
    .title = Der Fehler liegt bei gradwalk, nicht im Programm
    .hint = Bitte melde ihn zusammen mit dem Programm.
problem-internal-in = Beim Aufzeichnen ist gradwalk selbst mit `{ $name }` in `{ $function }`, Zeile { $line }, gescheitert. Das Programm lief weiter; was davor zu sehen ist, stimmt.
    .title = { problem-internal.title }
    .hint = { problem-internal.hint }
problem-intrusion = Zum Aufzeichnen liest gradwalk die Attribute jedes Tensors. Dabei lief diese Programmzeile und löste `{ $name }` aus. Das Programm lief weiter; was davor zu sehen ist, stimmt.
    .title = { $name } in Code, der beim Aufzeichnen durch gradwalk lief
    .hint = Gib Properties, die du an Tensoren hängst, andere Namen als die von torch, oder lass sie keinen Fehler auslösen.
problem-no-memory = Zum Aufzeichnen liest gradwalk die Zahlen jedes Tensors. Eine Klasse von Tensoren in diesem Programm hat selbst keine: Ihr `__torch_dispatch__` rechnet mit anderen Tensoren. Das Programm lief weiter; was davor zu sehen ist, stimmt.
    .title = Tensoren ohne Speicher lassen sich nicht aufzeichnen
    .hint = Rechne mit gewöhnlichen Tensoren. Auch deren Aufrufe sieht ein `TorchDispatchMode`.
problem-interpreter-broken = Dieses Programm hat `{ $what }` ersetzt oder entfernt. gradwalk zeichnet im selben Interpreter auf und braucht es, deshalb misslang die Aufzeichnung. Was davor zu sehen ist, stimmt.
    .title = Das Programm hat den Interpreter beschädigt, der es aufzeichnet
    .hint = Lass `{ $what }`, wie es ist, oder stelle es vor der nächsten Tensoroperation wieder her.

problem-too-many-nodes = Dieser Rückwärtsdurchlauf besucht mehr als { $count } autograd-Knoten. Er wurde ausgeführt, aber nicht aufgezeichnet.
    .title = Der Graph ist zu groß zum Anzeigen
    .hint = Nimm weniger Iterationen oder ein kleineres Modell: Die Regeln an jedem Knoten bleiben dieselben.
problem-first-nodes = Dieser Rückwärtsdurchlauf besucht { $count } autograd-Knoten. Die { $first }, die zuerst laufen, sind mit allen Gradienten aufgezeichnet; die übrigen liefen ohne Aufzeichnung.
    .title = Nur der erste Teil des Graphen ist zu sehen
    .hint = Nimm weniger Iterationen oder ein kleineres Modell, oder rufe backward auf einem Zwischenergebnis auf, um einen späteren Teil zu sehen.
problem-too-many-steps = Die ersten { $count } Schritte sind zu sehen. Das Programm lief ohne Aufzeichnung weiter.
    .title = Zu viele Schritte zum Anzeigen
    .hint = Nimm weniger Iterationen oder ein kleineres Modell.
problem-too-much-printed = Nur die ersten { $count } Zeichen sind zu sehen; das Programm lief weiter.
    .title = Das Programm hat zu viel ausgegeben
    .hint = Gib weniger aus, zum Beispiel die Form eines Tensors oder sein Mittel, oder nur jeden hundertsten Schritt.

problem-a-node = ein Knoten
problem-saved-tensors = seine gespeicherten Tensoren
problem-a-tensor = ein Tensor
problem-an-operation = eine Operation
problem-this-tensor = dieser Tensor
problem-argument = Argument `{ $name }`
problem-argument-number = Argument Nummer { $number }
problem-the-call = der Aufruf
problem-the-call-in-line = der Aufruf in Zeile { $line }

problem-freed = { $node } braucht { $saved } noch einmal, aber ein früheres backward hat das schon freigegeben.
    .title = Ein zweites backward durch denselben Graphen
    .hint = Übergib dem ersten backward `retain_graph=True`, oder berechne die Ausgabe vor dem zweiten neu.
problem-freed-in-line = { $node } braucht { $saved } noch einmal, aber ein früheres backward in Zeile { $line } hat das schon freigegeben.
    .title = { problem-freed.title }
    .hint = { problem-freed.hint }
problem-freed-in-loop = { $node } braucht { $saved } noch einmal, aber derselbe Aufruf von backward in Zeile { $line } hat das schon freigegeben.
    .title = { problem-freed.title }
    .hint = Berechne die Ausgabe vor jedem backward neu. Was ein Durchlauf einer Schleife dem nächsten übergibt, etwa einen verborgenen Zustand, trennst du mit `h = h.detach()` vom Graphen.
problem-changed-in-place = Als { $node } den Wert speicherte, hatte { $tensor } die Version { $saved }. Danach schrieb { $writes } hinein, jetzt ist es Version { $now }: Der Gradient wäre falsch.
    .title = Ein gespeicherter Tensor wurde in-place geändert
    .hint = Schreib den geänderten Wert in einen neuen Tensor (`y = y + 1` statt `y += 1`), oder ändere ihn, bevor er verwendet wird.
problem-changed-in-place-part = { problem-changed-in-place }
    .title = { problem-changed-in-place.title }
    .hint = Füge die Teile mit `torch.stack` oder `torch.cat` zusammen oder schreibe in eine Kopie (`.clone()`).
problem-grad-shape = Der Gradient für { $argument } hat die Form { $got }; richtig wäre { $expected }, die Form des Arguments selbst: backward gibt `v` mal J zurück, also eine Zahl je Eintrag des Arguments, nicht die Jacobi-Matrix.
    .title = { $function }.backward gab einen Gradienten der falschen Form zurück
    .hint = { $about ->
        [order] Es ist die Form eines anderen Arguments. Gib die Gradienten in der Reihenfolge der Argumente von forward zurück.
        [transposed] Er ist transponiert: Für `x @ w.t()` ist der Gradient von `w` gleich `grad_output.t() @ x`.
       *[other] Multipliziere `grad_output` mit der lokalen Ableitung und summiere über die Achsen der Ausgabe, sodass das Ergebnis die Form { $expected } hat.
     }
problem-grad-count = Zurückgegeben: { $got }; erwartet: { $expected }, einer je Argument von forward, denn die Engine ordnet sie nach der Position zu.
    .title = { $function }.backward gab die falsche Anzahl von Gradienten zurück
    .hint = Gib None zurück, wenn ein Argument keinen Gradienten braucht, etwa eine Zahl oder ein Flag. Gib mehrere als Tupel zurück: Eine Liste zählt als einer.
problem-grad-count-named = Zurückgegeben: { $got }; erwartet: { $expected }, einer je Argument von forward ({ $names }), denn die Engine ordnet sie nach der Position zu.
    .title = { $function }.backward gab die falsche Anzahl von Gradienten zurück
    .hint = { problem-grad-count.hint }
problem-grad-not-none = { $argument } von forward ist kein Tensor; mit einem Gradienten dafür lässt sich nichts anfangen.
    .title = { $function }.backward gab einen Gradienten für etwas zurück, das kein Tensor ist
    .hint = Gib an dieser Stelle None zurück. Tensoren in einer Liste bekommen Gradienten als eigene Argumente: `Total.apply(*tensors)`.
problem-grad-no-tensor = Zurück kam `{ $got }`; die Engine nimmt für jedes Argument von forward einen Tensor oder None.
    .title = { $function }.backward gab etwas zurück, das kein Tensor ist
    .hint = Gib Tensoren zurück: Multipliziere zum Beispiel `grad_output`, das ist einer.
problem-grad-kind = Der Gradient für { $argument } hat { $what } `{ $got }`; richtig wäre `{ $expected }` wie beim Argument selbst: Er wird zu dessen anderen Gradienten addiert.
    .title = { $function }.backward gab einen Gradienten mit falschem { $what } zurück
    .hint = Gib einen Gradienten mit { $what } `{ $expected }` zurück.
problem-grad-complex = Der Gradient ist komplex, das Argument aber reell (oder ganzzahlig), und umwandeln lässt sich das eine ins andere nicht, ohne dass etwas verloren geht.
    .title = { $function }.backward gab einen Gradienten mit falschem dtype zurück
    .hint = Gib einen Gradienten mit dem dtype des Arguments zurück, zum Beispiel mit `.real`.
problem-nan-returned = { $node } gab für { $operand } NaN zurück, und `detect_anomaly` beendet den Durchlauf dort: Die Steigung ist an dieser Stelle keine Zahl.
    .title = Ein Knoten gab NaN zurück
    .hint = Sieh dir seinen Operanden an: Wurzel oder Logarithmus einer negativen Zahl oder 0 mal unendlich führen dazu.
problem-hook-value = Was ein Hook zurückgibt, tritt an die Stelle des Gradienten; `{ $hook }` hat dabei `{ $what }` geändert.
    .title = Ein Hook hat `{ $what }` eines Gradienten geändert
    .hint = Gib einen Tensor wie den übergebenen zurück, oder nichts: Dann bleibt der Gradient, wie er ist.
problem-hook-count = Der Hook gab { $got } zurück, der Knoten hat aber { $expected }: einen je Eingabe, None, wo kein Gradient hingeht.
    .title = Ein Hook gab die falsche Zahl von Gradienten zurück
    .hint = Gib ein Tupel wie das übergebene zurück, oder nichts: Dann bleiben die Gradienten, wie sie sind.
problem-hook-tensor = Was ein Hook zurückgibt, tritt an die Stelle des Gradienten und muss ein Tensor sein; zurück kam `{ $got }`.
    .title = Ein Hook gab etwas zurück, das kein Tensor ist
    .hint = { problem-hook-value.hint }
problem-hook-tuple = Der Hook eines Knotens gibt ein Tupel zurück, mit einem Gradienten je Eingabe des Knotens; zurück kam `{ $got }`.
    .title = Ein Hook gab etwas zurück, das kein Tupel ist
    .hint = { problem-hook-count.hint }
problem-not-scalar = Die Ausgabe hat mehr als einen Eintrag, also gibt es keine einzelne Zahl, deren Gradient gemeint sein könnte: backward berechnet `v` mal die Jacobi-Matrix, und `v` (`grad_output`) muss die Form der Ausgabe haben.
    .title = backward() muss für diese Ausgabe v kennen
    .hint = Mach daraus mit `.sum()` oder `.mean()` einen Skalar, oder übergib `gradient=torch.ones_like(y)`.
problem-seed-shape = Der Gradient `v` von außen hat die Form { $got }, die Ausgabe die Form { $expected }. `v` enthält eine Zahl je Eintrag der Ausgabe, also müssen die Formen gleich sein.
    .title = Ein grad_output der falschen Form
    .hint = Gib `v` die Form { $expected }.

problem-no-history = Tensor Nummer { $index } für backward hat keine Vorgeschichte: Kein Tensor mit `requires_grad` ging ein, oder er wurde abgetrennt durch detach, no_grad, .data, .item oder eine Umwandlung in ganze Zahlen.
    .title = Hier ist nichts differenzierbar
    .hint = Erzeuge eine Eingabe mit `requires_grad=True` und bleib bei jedem Schritt von ihr bis zur Ausgabe in torch.
problem-no-history-plain = { $tensor } kommt aus einem Aufruf ohne `create_graph=True` ({ $call }): Er gab bloße Zahlen zurück, ein zweites Mal ableiten lässt sich da nichts.
    .title = { problem-no-history.title }
    .hint = Setze hier `create_graph=True`: { $call }.
problem-no-history-constant = { $tensor } entstand zwar mit `create_graph=True` ({ $call }), aber { $because }
    .title = { problem-no-history.title }
    .hint = Prüf, was backward dort mit Werten macht, die von den Eingaben abhängen.
problem-because-cut = die Vorgeschichte fehlt. { $message }
problem-because-once = das backward von `{ $function }` ist mit `@once_differentiable` markiert: Es läuft ohne Grad-Modus, und was es zurückgibt, lässt sich nicht noch einmal ableiten.
problem-because-linear = nichts, woraus er berechnet wurde, hat `requires_grad`: Die Ableitung hängt nicht von den Eingaben ab (bei einer linearen Funktion ist sie konstant), oder ein eigenes backward hat nur mit Zahlen ohne Vorgeschichte gerechnet.
problem-no-history-cut = { $tensor } hat keine Vorgeschichte: { $call } trennt vom Graphen ab.
    .title = { problem-no-history.title }
    .hint = Lass das weg, damit jeder Schritt von der Eingabe bis zur Ausgabe im Graphen ist.
problem-no-history-inside = { $tensor } kommt von { $call }, das keinen Tensor mit requires_grad als Argument bekam: Was es aus einer Liste, einem Dict oder von außen nimmt, ist eine Konstante.
    .title = { problem-no-history.title }
    .hint = Gib `apply` jeden Tensor einzeln: `Scale.apply(x, w)`, `Total.apply(*tensors)`. backward gibt für jeden einen Gradienten zurück.
problem-no-history-listed = { $tensor } kommt von { $call }, dessen forward eine Liste oder ein Dict zurückgibt: Was darin ist, hat keine Vorgeschichte.
    .title = { problem-no-history.title }
    .hint = Gib mehrere Tensoren als Tupel zurück: `return a, b`.
problem-no-history-last-cut = { $tensor } hat keine Vorgeschichte: { $call } hat davor das Letzte aus dem Graphen genommen, oder kein Tensor mit `requires_grad` ging ein.
    .title = { problem-no-history.title }
    .hint = Erzeuge eine Eingabe mit `requires_grad=True` und bleib bei jedem Schritt von ihr bis zur Ausgabe in torch.

problem-nothing-required = Zwar ist `requires_grad` gesetzt ({ $names }), aber das Programm berechnet daraus nichts Differenzierbares.
    .title = Nichts ist differenzierbar
    .hint = Berechne daraus etwas, das in torch bleibt: detach, no_grad, .item() und ganze Zahlen trennen es ab.
problem-nothing-cut = Zwar ist `requires_grad` gesetzt ({ $names }), aber das Programm berechnet daraus nichts Differenzierbares: { $call } trennt vom Graphen ab.
    .title = { problem-nothing-required.title }
    .hint = { problem-nothing-required.hint }
problem-forward-mode = { $calls } ist der Vorwärtsmodus: Tangenten laufen mit den Werten mit, J mal Änderung. Nichts läuft rückwärts.
    .title = Vorwärtsmodus: Nichts läuft rückwärts
    .hint = Gib einer Eingabe `requires_grad=True` und lass den Aufruf weg, um den Graphen zu sehen; „Anstupsen“ lässt darüber eine Änderung vorwärts laufen.
problem-forward-mode-tangents = { $calls } ist der Vorwärtsmodus: Tangenten laufen mit den Werten mit, J mal Änderung. Nichts läuft rückwärts. Berechnet wurde { $tangents }.
    .title = { problem-forward-mode.title }
    .hint = { problem-forward-mode.hint }
note-forward-mode = { problem-forward-mode } Seine Funktion ist mit Blättern gezeichnet: Anstupsen geht vorwärts, der Durchgang rückwärts.
note-forward-mode-tangents = { problem-forward-mode-tangents } Seine Funktion ist mit Blättern gezeichnet: Anstupsen geht vorwärts, der Durchgang rückwärts.
forward-mode-tangent = `{ $name }` = { $value }
problem-nothing-real = Das Ergebnis enthält Werte vom Typ `{ $dtype }`; die können keinen Gradienten haben.
    .title = Nichts ist differenzierbar
    .hint = { problem-nothing-made.hint }
problem-nothing-recorded = Kein Tensor des Programms hat `requires_grad`, also hat PyTorch keine Vorgeschichte aufgezeichnet, durch die man zurückgehen könnte.
    .title = Nichts ist differenzierbar
    .hint = { problem-nothing-made.hint }
problem-nothing-called = Nichts ruft `{ $name }` auf, also ist keine der Zeilen darin gelaufen.
    .title = Nichts ruft `{ $name }` auf
    .hint = Schreib darunter einen Aufruf: `{ $call }`
problem-nothing-numpy = Das Programm rechnet mit NumPy, das keine Geschichte aufzeichnet: Es gibt keinen Graphen.
    .title = NumPy hat kein Autograd
    .hint = Mach die Eingaben mit `torch.tensor(..., requires_grad=True)` und nimm die gleichnamigen Funktionen von torch. Ein von Hand geschriebenes backward lässt sich hier als `backward` einer `torch.autograd.Function` prüfen.
problem-nothing-made = Das Programm erzeugt keine Tensoren, also gibt es keinen Graphen zum Durchlaufen.
    .title = Nichts ist differenzierbar
    .hint = Erzeuge eine Eingabe mit `requires_grad=True`, zum Beispiel `x = torch.tensor([1., 2.], requires_grad=True)`.

problem-no-pass = Während der Aufzeichnung lief kein Rückwärtsdurchlauf.
    .title = Nichts lief rückwärts
    .hint = Rufe `.backward()` oder `torch.autograd.grad` innerhalb des `with` auf.
problem-no-backward = `.backward()` beginnt bei einem Tensor; ein einfaches `{ $type }` hat keine Vorgeschichte, durch die man zurückgehen könnte.
    .title = Ein einfaches `{ $type }` hat kein backward
    .hint = { $about ->
        [call] Die Klammern fehlen, die es aufrufen: `(x * x).sum().backward()`.
        [loss] Das erzeugt den Verlust; ruf ihn mit Ausgabe und Target auf: `nn.MSELoss()(output, target).backward()`.
        [several] Nimm den Tensor heraus: `y, = (…)`, `losses[0]`, `out["loss"]`.
       *[number] Ruf es auf dem Tensor auf, der aus den Blättern berechnet wurde.
     }
problem-no-backward-cut = `.backward()` beginnt bei einem Tensor; ein einfaches `{ $type }` hat keine Vorgeschichte. Zuletzt hat { $call } etwas aus dem Graphen genommen.
    .title = { problem-no-backward.title }
    .hint = Behalte die Tensoren, addiere sie mit torch und ruf `.backward()` auf der Summe auf; nimm Zahlen nur zum Ausgeben heraus.
problem-leaf-in-place = Sein alter Wert wird vielleicht im Rückwärtsdurchlauf gebraucht, und es gibt keinen Knoten, der die Änderung aufzeichnen könnte.
    .title = Ein Blatt mit requires_grad lässt sich nicht in-place ändern
    .hint = Ändere es dort, wo nichts aufgezeichnet wird: `with torch.no_grad():` um `w -= lr * w.grad`. `w = w - lr * w.grad` hilft nicht: Das Ergebnis ist kein Blatt, das nächste backward hinterlässt dort also kein `.grad`.
problem-input-number = Eingabe Nummer { $number } von `torch.autograd.grad`
problem-unused-input = { $input } liegt auf keinem Weg im Graphen.
    .title = Die Ausgabe hängt von einer der Eingaben nicht ab
    .hint = Übergib `allow_unused=True`, dann bekommst du dafür None, oder prüf, wo sie aus der Rechnung herausfällt.
problem-unused-input-because = { $input } liegt auf keinem Weg im Graphen. { $because }
    .title = { problem-unused-input.title }
    .hint = { problem-unused-input.hint }
problem-input-not-required = Im Graphen sind nur Tensoren mit `requires_grad` und was aus ihnen berechnet wird.
    .title = Eine Eingabe von torch.autograd.grad hat kein requires_grad
    .hint = Erzeuge sie mit `requires_grad=True`, bevor sie verwendet wird.
problem-whole-numbers = Nur Gleitkomma- und komplexe Tensoren können `requires_grad` haben: Eine Ableitung braucht Werte, die sich ein wenig ändern können.
    .title = Ganze Zahlen haben keinen Gradienten
    .hint = Schreib 1.0 statt 1, oder übergib `dtype=torch.float32`.
problem-no-input = `input()` wartet auf jemanden an der Tastatur, und da ist niemand.
    .title = Auf `input()` antwortet hier niemand
    .hint = Weise stattdessen einen Wert zu (`x = 2.0`): Zahlen des Programms werden zu Reglern darunter.
problem-no-file = `{ $file }` ist nicht hier: Ein Programm, das für Fremde läuft, hat keine Dateien.
    .title = Hier gibt es keine Dateien
    .hint = Schreib die Zahlen ins Programm, oder nimm zufällige derselben Form: `torch.randn(64, 10)`.
problem-no-file-data = `{ $file }` ist nicht hier: Ein Programm, das für Fremde läuft, hat keine Dateien.
    .title = Hier gibt es keine Dateien
    .hint = Nimm zufällige Daten derselben Form: `{ $instead }`. Graph und Regeln sind dieselben.
problem-no-files = Das Programm verlangt eine Datei, und ein Programm, das für Fremde läuft, hat keine.
    .title = Hier gibt es keine Dateien
    .hint = Schreib die Zahlen ins Programm, oder nimm zufällige derselben Form: `torch.randn(64, 10)`.
problem-no-network = Das Programm verlangt das Netz, und ein Programm, das für Fremde läuft, hat keins.
    .title = Hier gibt es kein Netz
    .hint = Schreib die Zahlen ins Programm, oder nimm zufällige derselben Form: `torch.randn(64, 10)`.
problem-no-library = `{ $library }` ist hier nicht installiert: Ein Programm hat PyTorch, NumPy und Pythons eigene Bibliothek.
    .title = `{ $library }` ist nicht hier
    .hint = Schreib die paar Zeilen, die du davon brauchst, mit torch, oder lass das Programm auf deinem Rechner laufen: `gradwalk trace program.py`.
problem-no-library-data = `{ $library }` ist hier nicht installiert: Ein Programm hat PyTorch, NumPy und Pythons eigene Bibliothek.
    .title = `{ $library }` ist nicht hier
    .hint = Nimm zufällige Daten derselben Form: `{ $instead }`. Graph und Regeln sind dieselben.
problem-no-processes = Das Programm startet einen Thread oder einen Prozess, und hier hat es nur den eigenen.
    .title = Hier gibt es einen Thread
    .hint = Ruf die Funktion selbst auf, in einer Schleife: Die Gradienten sind dieselben.
problem-not-allowed = Das System hat verweigert, was das Programm wollte: Hier kann es rechnen und erreicht sonst nichts.
    .title = Hier nicht erlaubt
    .hint = Lass die Zeile weg, oder lass das Programm auf deinem Rechner laufen: `gradwalk trace program.py`.
problem-no-gpu = Das Programm verlangt eine GPU; hier läuft PyTorch auf der CPU, wo der Graph und seine Gradienten dieselben sind.
    .title = Hier gibt es keine GPU
    .hint = Lass `.cuda()` und `.to("cuda")` weg, oder wähle: `device = "cuda" if torch.cuda.is_available() else "cpu"`.
problem-matrix-shapes = Die Formen sind { $left } und { $right }: Die inneren Größen ({ $columns } und { $rows }) müssen gleich sein.
    .title = Diese Matrizen lassen sich nicht multiplizieren
    .hint = { $about ->
        [backward] Ein Gradient hat die Form seines Arguments: Die von `a @ b` sind `g @ b.T` und `a.T @ g`.
       *[other] Transponiere eine von ihnen (`.T`), oder prüf die Größen dort, wo sie entstehen.
     }
problem-broadcast = In Achse { $axis } treffen die Größen { $left } und { $right } aufeinander; sie müssen gleich sein, oder eine davon muss 1 sein.
    .title = Diese Formen passen nicht zusammen
    .hint = Gib die Formen mit `print` aus, und nimm `unsqueeze` oder `reshape`, wo eine Achse fehlt.
problem-target-too-large = Target { $target } verlangt den Score der Klasse { $target }. Klassen zählen ab 0: Bei Scores mit C Spalten gibt es die Klassen 0 bis C − 1.
    .title = Zu einem Target fehlt in den Scores die Klasse
    .hint = Zähle die Targets ab 0, oder gib den Scores mindestens { $columns } Spalten.
problem-target-negative = Target { $target } verlangt den Score der Klasse { $target }. Klassen zählen ab 0: Bei Scores mit C Spalten gibt es die Klassen 0 bis C − 1.
    .title = Zu einem Target fehlt in den Scores die Klasse
    .hint = Targets sind 0 oder größer; nenne mit `ignore_index` einen anderen Wert, um Einträge auszulassen.
problem-no-such-row = Ein Embedding hat `num_embeddings` Zeilen, mit Indizes von 0 bis `num_embeddings - 1`.
    .title = Ein Index liegt außerhalb der Tabelle
    .hint = Gib dem Embedding ein `num_embeddings`, das größer ist als der größte Index, oder sieh nach, woher dieser Index kommt.
problem-module-init = Ein Modul hält seine Parameter und Schichten in Tabellen, die `nn.Module` in seinem eigenen `__init__` anlegt; das wurde nicht aufgerufen.
    .title = Das Modul ist nicht eingerichtet
    .hint = Fang `__init__` mit `super().__init__()` an.
problem-no-parameters = Ein Optimierer bekam keine Parameter: Das Modul kennt keine.
    .title = Nichts zu optimieren
    .hint = Schichten in einer gewöhnlichen Liste oder einem Dictionary werden nicht gefunden: Nimm `nn.ModuleList`, `nn.ModuleDict` oder `nn.Parameter`.
problem-two-dtypes = Die einen Zahlen haben den Typ { $left }, die anderen { $right }.
    .title = Zahlen von zweierlei Typ
    .hint = Wandle eine Seite um: `.float()` oder `.to(other.dtype)`. Die Zahlen von numpy sind double, die von torch float.
problem-target-class = Die Targets haben den Typ { $dtype }. Dieser Verlust nimmt die Nummer der Klasse jeder Zeile, als ganze Zahlen vom Typ Long.
    .title = Ein Target muss die Nummer einer Klasse sein
    .hint = Wandle sie um: `targets.long()`.
problem-target-dtype = Die Targets haben den Typ { $dtype }, und dieser Verlust rechnet mit { $expected }.
    .title = Die Targets haben einen anderen Typ, als der Verlust erwartet
    .hint = Wandle sie um, etwa mit `targets.float()`.
problem-optimizer-result = Dieser Tensor ist das Ergebnis einer Operation. Ein Optimierer ändert Blätter: Nur sie bekommen ein `.grad` und behalten ihren Wert von Schritt zu Schritt.
    .title = Ein Optimierer nimmt nur Blätter
    .hint = Gib ihm das Blatt, aus dem dies berechnet wurde, oder beginne hier ein neues: `w = (0.1 * torch.randn(3)).requires_grad_()`.
problem-complex-output = Die Ausgabe ist eine komplexe Zahl, und bei einer komplexen Zahl gibt es keine Richtung, in der sie wächst: backward braucht eine reelle Ausgabe oder `v`.
    .title = Backward braucht eine reelle Ausgabe
    .hint = Nimm `.abs()` oder `.real` davon, oder übergib `gradient=torch.ones_like(y)`.
problem-views-in-place = Die Operation lieferte mehrere Views eines Tensors auf einmal; wird in einen davon geschrieben, kann die Engine das nicht aufzeichnen.
    .title = Einer von mehreren Views lässt sich nicht in-place ändern
    .hint = Schreib das Ergebnis stattdessen in einen neuen Tensor.
problem-needs-detach = numpy würde nicht aufzeichnen, was mit den Zahlen geschieht; der Gradient ginge unbemerkt verloren.
    .title = Aus einem Tensor im Graphen wird kein numpy-Array
    .hint = Nimm `.detach().numpy()`, wenn du ab hier keinen Gradienten willst.
problem-target-columns = Dieser Verlust nimmt die Nummer der Klasse jeder Zeile, in einer einzigen Achse.
    .title = { problem-target-class.title }
    .hint = Lass die Spalte weg: `targets.long().squeeze(-1)`. Nimm bei One-Hot-Zeilen die Klasse: `targets.argmax(-1)`.
problem-view-size = In die Form { $shape } passen keine { $count } Einträge.
    .title = { problem-broadcast.title }
    .hint = Das Produkt der Größen muss { $count } sein; eine davon darf -1 sein, etwa `x.reshape(len(x), -1)`.
problem-several-numbers = Hier ist eine einzige Zahl gefragt, und der Tensor hat mehrere.
    .title = Mehrere Zahlen, wo eine gefragt ist
    .hint = { $about ->
        [loss] Ein Verlust wird erst erzeugt, dann aufgerufen: `nn.MSELoss()(y, t)`.
        [truth] Frag nach `(x > 0).all()` oder `.any()`; wähle Eintrag für Eintrag mit `torch.where(x > 0, x, 0 * x)`.
       *[number] Nimm einen Eintrag, die Summe `.sum()` oder `.mean()`; für jeden Eintrag nimm die Funktion von torch, etwa `torch.sqrt(x)`.
     }
problem-size = `{ $what }` muss { $expected } sein und ist hier { $got }.
    .title = { problem-broadcast.title }
    .hint = { $about ->
        [linear] Erzeuge die Schicht mit `in_features={ $got }`; mach ein Bild davor flach: `x.flatten(1)`.
        [target] Gib beiden dieselbe Form: `scores.squeeze(-1)` lässt eine letzte Achse der Größe 1 weg, `targets.unsqueeze(-1)` fügt eine hinzu.
        [rows] Gib jeder Zeile der Scores ein Target.
        [classes] Die Klassen sind Achse 1 der Scores: `scores.transpose(1, 2)`, wenn sie zuletzt kommen.
        [conv] Erzeuge die Schicht mit `in_channels={ $got }`, oder verschieb die Kanäle mit `permute`.
        [axes] Füge die fehlende Achse mit `x.unsqueeze(0)` hinzu: die der Kanäle, dann die des Batchs.
        [stack] Gib die Formen mit `print` aus; schneide, fülle auf oder transponiere einen der Tensoren.
        [features] Erzeuge die Schicht mit der Größe, die die Eingabe hat.
        [vectors] Gib beiden Vektoren dieselbe Länge.
        [mask] Bilde die Maske aus dem Tensor selbst: `x[x > 0]`.
        [hidden] Es ist [layers, batch, hidden_size]; lass es weg, um mit Nullen zu beginnen.
        [grad] `.grad` hat die Form seines Tensors.
       *[other] Transponiere einen der beiden (`.mT`), oder prüf die Größen dort, wo sie entstehen.
     }
problem-refused = „{ $text }“
    .title = So geht das nicht
    .hint = { $about ->
        [view] Nimm `.reshape(...)`: Es kopiert die Einträge, wo eine View nicht reicht.
        [batch] BatchNorm nimmt Mittelwert und Varianz über den Batch: Gib ihm zwei Zeilen oder mehr, oder ruf vorher `.eval()` am Modell auf.
        [forward] Schreib `def forward(self, x):` in die Klasse; prüf die Schreibweise, und ob es als Methode eingerückt ist.
        [apply] Schreib `.apply`, ohne eine Instanz zu erzeugen: `Square.apply(x)`. Es bringt `ctx` mit. Beide Methoden sind `@staticmethod`.
        [indices] Wandle die Indizes um: `indices.long()`. Eine Maske wird mit `.bool()` umgewandelt.
        [derivative] Nimm `.detach()` am Operanden, wenn du keinen Gradienten willst, oder schreib eine `torch.autograd.Function` mit eigenem backward.
        [inference] Kopiere den Tensor außerhalb von `inference_mode`: `x = x.clone()`. Oder nimm stattdessen `torch.no_grad()`.
        [copy] Kopiere die Zahlen: `y.detach().clone()`.
        [parameter] Ändere die Zahlen des Parameters: `with torch.no_grad(): layer.weight.copy_(new)`. Oder weise `nn.Parameter(new)` zu.
        [list] Setz ihn in eine Liste: `[w]`.
        [kernel] Nimm einen kleineren Kernel, ein größeres Bild oder `padding`.
        [axis] Füge die fehlende Achse mit `unsqueeze` hinzu, oder nimm `torch.stack`.
        [leaf] `y = y.detach()` nimmt ein Ergebnis aus dem Graphen; umschalten lassen sich nur Blätter.
        [seed] Gib einen Tensor in der Form der Ausgabe, einen für jede Ausgabe: `y.backward(torch.tensor([0.2, 0.8]))`.
        [backward] Ergänze `@staticmethod` `def backward(ctx, grad_output)`: Es gibt für jedes Argument von forward einen Gradienten zurück.
        [ctx-first] `apply` gibt `ctx` weiter und dann, was es selbst bekam: `@staticmethod` `def forward(ctx, x)`, ohne `self`.
        [grad-outputs] backward bekommt `ctx` und einen Gradienten für jede Ausgabe von forward: `def backward(ctx, grad_a, grad_b)`.
        [function] Schreib `@staticmethod` `def forward(ctx, x):` in die Klasse; prüf die Schreibweise.
        [save] Übergib Tensoren einzeln: `ctx.save_for_backward(x, y)`. Bewahre an `ctx` selbst auf, was kein Tensor ist: `ctx.k = k`.
        [ctx] Bewahre in forward auf, was backward braucht: Tensoren mit `ctx.save_for_backward(x)`, alles andere wie in `ctx.k = k`.
        [tuple] Das ist ein Tupel, auch wenn es nur einen Tensor enthält. Nimm den Tensor heraus: `x, = ctx.saved_tensors`, `g, = torch.autograd.grad(y, x)`, oder `out, (h, c) = lstm(x)`.
        [results] Hier kamen zwei Tensoren zusammen zurück. Nimm einen: `x.max(dim=1).values`, oder `values, indices = x.max(dim=1)`.
        [required] Erzeuge eine Eingabe mit `requires_grad=True`, bevor das hier daraus berechnet wird.
        [zero-grad] `x.grad = None` vergisst den Gradienten; `zero_grad()` ist eine Methode von Modulen und Optimierern.
        [out] Lass `out` weg: `y = torch.add(a, b)`.
        [state] Erzeuge das Modell mit den gespeicherten Schichten und Größen; vergleich die Namen in `model.state_dict()`.
        [module] Setz ein Modul hinein: `nn.ReLU()` statt `torch.relu`; für eine eigene Function eines, dessen forward ihr `apply` aufruft.
        [heads] Jeder Kopf bekommt `embed_dim / num_heads` Spalten: 6 Spalten können 1, 2, 3 oder 6 Köpfe haben.
        [expand] Nur eine Achse der Größe 1 lässt sich ausdehnen; die letzten Achsen stehen untereinander. `x.unsqueeze(0)` fügt vorn eine hinzu.
        [einsum] Jeder Tensor hat seine Buchstaben, einen für jede Achse, durch Kommas getrennt: `torch.einsum('ij,jk->ik', a, b)`. Ein Buchstabe hat eine Größe.
        [permute] Nenn jede Achse einmal: `x.permute(0, 2, 1)`. `x.transpose(1, 2)` vertauscht zwei.
        [dimension] Achsen zählen ab 0 oder vom Ende her: -1 ist die letzte. `x.unsqueeze(0)` fügt vorn eine hinzu.
        [index] Einträge zählen ab 0: Von dreien ist 2 der letzte, oder -1.
        [scalar] Das ist eine einzelne Zahl ohne Achse: Nimm sie, wie sie ist, oder gib ihr eine mit `.unsqueeze(0)`.
        [dot] `a @ b` multipliziert Matrizen; `(a * b).sum()` summiert die Produkte aller Einträge.
        [matrix] `a @ b` multipliziert Vektoren, Matrizen und Batches davon; `.mT` transponiert die letzten zwei Achsen.
        [sequence] Setz sie in eine Liste: `torch.cat([a, b])`.
        [condition] Schreib eine Bedingung: `torch.where(x > 0, a, b)`.
        [singular] Prüf die Matrix, oder addiere etwas zu ihrer Diagonale: `A + 1e-3 * torch.eye(len(A))`.
        [saved] Nimm so viele heraus, wie forward aufbewahrt hat: `ctx.save_for_backward(x, y)`, dann `x, y = ctx.saved_tensors`. Bewahre sie mit einem Aufruf auf: Der letzte zählt.
        [pair] Ein LSTM beginnt mit zwei Tensoren, als Paar: `lstm(x, (h, c))`.
        [dtypes] { problem-two-dtypes.hint }
        [write] Ein Eintrag nimmt eine Zahl; mehrere schreibt man in einen Teil: `y[0:2] = …`.
        [own-grad] `.grad` nimmt None oder einen Tensor derselben Form: `x.grad = torch.zeros_like(x)`.
        [no-grad] Tensoren haben ein `.grad`; die eines Moduls sind seine Parameter: `layer.weight.grad`.
        [ragged] Gib allen Zeilen dieselbe Länge.
        [tensor] Mach einen Tensor daraus: `torch.tensor(…)`; aus einem Array von numpy `torch.from_numpy(…).float()`.
        [keyword] Schreib `torch.tensor([1.0, 2.0], requires_grad=True)`: `tensor` mit kleinem t, `requires_grad` mit s.
       *[mean] Wandle erst in Gleitkommazahlen um: `x.float()`.
     }

problem-no-grad-fn = { $about ->
        [leaf] `{ $name }` ist ein Blatt: Keine Operation hat es berechnet, also hat es kein `grad_fn`. Sein Gradient endet in `{ $name }.grad`.
       *[plain] `{ $name }` hat kein `requires_grad`, also wurde dafür keine Operation aufgezeichnet.
     }
    .title = `{ $name }.grad_fn` ist None
    .hint = { $about ->
        [leaf] Frag ein Ergebnis, das daraus berechnet wurde: `({ $name } * 2).grad_fn`.
       *[plain] Erzeuge eine Eingabe mit `requires_grad=True`, bevor `{ $name }` daraus berechnet wird.
     }
problem-grad-none-result = `{ $name }` ist kein Blatt: Eine Operation hat es berechnet, also hinterlässt backward nichts in seinem `.grad`.
    .title = `{ $name }.grad` ist None
    .hint = Ändere das Blatt in-place, statt einen neuen Tensor zu berechnen: `with torch.no_grad():` um `{ $name } -= lr * { $name }.grad`. Oder ruf vor backward `{ $name }.retain_grad()` auf.
problem-grad-none-not-required = `{ $name }` hat kein `requires_grad`, also hinterlässt kein Rückwärtsdurchlauf etwas in seinem `.grad`.
    .title = `{ $name }.grad` ist None
    .hint = Erzeuge es mit `requires_grad=True`, oder ruf `{ $name }.requires_grad_()` auf, bevor es verwendet wird.
problem-grad-none-before = Vor dieser Zeile hat kein Rückwärtsdurchlauf einen Gradienten in `{ $name }.grad` hinterlassen, oder `zero_grad()` hat ihn entfernt.
    .title = `{ $name }.grad` ist None
    .hint = Ruf vor dieser Zeile `backward()` auf einem Ergebnis davon auf und `zero_grad()` erst danach.
problem-forward-nothing = `{ $function }.forward` (Zeile { $line }) gibt None zurück.
    .title = { $function }.forward hat kein Ergebnis
    .hint = Lass es mit `return` und dem Ergebnis enden.

problem-input = { $problem }
    .title = Eine Eingabe ist nicht verwendbar
    .hint = Eine Zahl wie 2.0 oder verschachtelte Listen gleicher Länge wie `[[1, 2], [3, 4]]`.
problem-input-form = `{ $name }` muss eine Zahl sein, verschachtelte Listen oder ein Objekt mit `value`, `requires_grad` und `dtype`.
problem-input-dtype = `{ $name }` hat den dtype `{ $dtype }`, den torch nicht kennt; `float64` zum Beispiel ist einer.
problem-input-computed = Das Programm berechnet `{ $name }` aus anderen Tensoren; von außen setzen lässt es sich nicht.
problem-input-no-tensor = `{ $name }` lässt sich nicht als Tensor lesen: { $reason }.
problem-input-no-number = `{ $name }` lässt sich nicht als Tensor lesen: { $text } ist keine Zahl.
problem-input-seed-own = Das v des Programms hat die Form { $expected }, das der Seite { $got }: backward braucht zu jeder Zahl der Ausgabe eine.
problem-input-seed-shape = `grad_output` hat die Form { $got }, die Ausgabe aber die Form { $expected }: `v` enthält eine Zahl je Eintrag der Ausgabe. (Form [m, { $sizes }] gibt m Zeilen auf einmal.)
problem-input-seed-scalar = `grad_output` hat die Form { $got }, die Ausgabe aber ist ein Skalar der Form { $expected }: `v` ist eine einzige Zahl. (Form [m] gibt m Zeilen auf einmal.)

problem-program-long = Das Programm ist { $bytes } Bytes lang; gelesen werden höchstens { $count }.
    .title = Das Programm ist zu lang
    .hint = Behalte den Teil, dessen Rückwärtsdurchlauf du sehen willst.
problem-program-empty = Im Programm steht keine Anweisung, also wurde nichts berechnet, und es gibt keinen Graphen zum Durchlaufen.
    .title = Das Programm ist leer
    .hint = Gib einen Ausdruck ein wie `sin(x*y) + x`, oder öffne ein Beispiel.
problem-nested = Die Ausdrücke sind so tief verschachtelt, dass Pythons eigener Parser aufgibt.
    .title = Zu tief verschachtelt
    .hint = Gib Teilen des Ausdrucks Namen, oder bau eine lange Summe in einer Schleife auf.
problem-nul = Das Programm enthält ein NUL-Byte, und das ist kein Text.
    .title = Das ist kein gültiges Python
    .hint = Lösch das Zeichen; es kommt oft beim Kopieren aus einem anderen Programm mit.
problem-surrogate = Das Programm enthält ein halbes Surrogat-Paar, und das ist kein Text.
    .title = Das ist kein gültiges Python
    .hint = Lösch das Zeichen; es kommt oft beim Kopieren aus einem anderen Programm mit.

problem-syntax = Python meldet: „{ $text }“
    .title = Das ist kein gültiges Python
problem-syntax-hint = Python meldet: „{ $text }“
    .title = Das ist kein gültiges Python
    .hint = { $instead }
problem-indentation = Python meldet: „{ $text }“
    .title = Falsche Einrückung
problem-indentation-hint = Python meldet: „{ $text }“
    .title = Falsche Einrückung
    .hint = { $instead }
problem-syntax-colon = Eine Zeile, die einen Block eröffnet (def, class, for, while, if, else, with), endet mit einem Doppelpunkt.
problem-syntax-unclosed = Ergänze die Klammer, die dieses `{ $bracket }` schließt.
problem-syntax-unmatched = Dieses `{ $bracket }` schließt nichts: Entferne es, oder ergänze die öffnende Klammer.
problem-syntax-brackets = Klammern schließen sich in umgekehrter Reihenfolge; prüf dieses `{ $bracket }`.
problem-syntax-compare = Verglichen wird mit `==`; ein einfaches `=` gibt dem Namen links davon einen Wert.
problem-syntax-assign = Links von `=` steht ein Name, wie in `y = f(x)`.
problem-syntax-triple-quotes = Schließ den Text mit denselben drei Anführungszeichen, mit denen er beginnt.
problem-syntax-quotes = Schließ den Text in derselben Zeile mit dem Anführungszeichen, mit dem er beginnt.
problem-syntax-tabs = Rück nur mit Leerzeichen ein: Hier sind Tabs und Leerzeichen gemischt.
problem-syntax-indented = Diese Zeile ist weiter eingerückt als die davor, aber es wurde kein Block eröffnet.
problem-syntax-block = Rück die Zeilen, die zum Block gehören, um vier Leerzeichen ein.
problem-syntax-unindent = Rück diese Zeile genauso weit ein wie eine andere Zeile desselben Blocks.
problem-syntax-comma = Zwei Werte stehen nebeneinander: Dazwischen fehlt ein Komma oder ein Operator.
problem-syntax-times = Das Malzeichen lässt man nicht weg: `2 * x`, nicht `2x`.
problem-syntax-print = `print` ist eine Funktion: `print(y)`.
problem-syntax-outside = Dieses Wort ist nur in einer Funktion (def) erlaubt.
problem-syntax-star = Mal schreibt man `*`.
problem-syntax-slash = Geteilt schreibt man `/`.
problem-syntax-minus = Das Minuszeichen ist der einfache Bindestrich: `-`.
problem-syntax-power = Potenzen schreibt man `**`: `x ** 2`.
problem-syntax-invisible = Hier wurde ein unsichtbares Zeichen eingefügt: Lösch es und tipp ein Leerzeichen.

problem-stopped = Es wurde nach { $seconds } s angehalten.
    .title = Das Programm lief zu lange
    .hint = Nimm weniger Iterationen oder kleinere Tensoren, oder prüf, ob eine Schleife auf etwas wartet, das nie eintritt.
problem-left = Alle, die diesem Lauf zusahen, sind gegangen; darum wurde er angehalten.
    .title = Abgebrochen
problem-called-off = Dieser Lauf wurde abgebrochen.
    .title = Abgebrochen
problem-going-down = Der Server wird gerade heruntergefahren.
    .title = Abgebrochen
problem-trace-too-large = Dieses Programm zeichnet mehr auf, als in eine Aufzeichnung passt; alles bis hierher bleibt erhalten.
    .title = Die Aufzeichnung ist zu groß
    .hint = Nimm kleinere Tensoren oder weniger Schritte, oder senke die Grenze für Elemente je Wert.
problem-unusable-answer = Der Prozess, in dem dieses Programm lief, hat etwas Unlesbares geantwortet; die Antwort wurde verworfen.
    .title = Keine brauchbare Antwort
    .hint = Falls das Programm in Dateideskriptoren schreibt oder die Standardbibliothek ändert, entferne das. Sonst ist es ein Fehler von gradwalk: Bitte melde das Programm.
problem-forbidden = Das Programm hat vom Betriebssystem etwas verlangt, das Programme hier nicht dürfen, und wurde beendet.
    .title = Ein verbotener Systemaufruf
    .hint = Dateien, Netz und andere Prozesse sind nicht erreichbar; Tensoren, die im Programm selbst entstehen, gehen.
problem-crashed = Ein Aufruf in diesem Programm hat PyTorch zum Absturz gebracht ({ $signal }); sonst ist nichts betroffen.
    .title = PyTorch selbst ist abgestürzt
    .hint = Vergleiche Formen und dtypes des letzten Aufrufs mit seiner Dokumentation: Manche Fehler prüft PyTorch nicht, und sie beenden den Prozess. Auch Speicher, der ausging, kann ihn so beenden.
problem-killed = Das Betriebssystem hat dieses Programm beendet, wahrscheinlich weil der Speicher ausging.
    .title = Das System hat das Programm beendet
    .hint = Versuch es mit kleineren Tensoren; waren sie schon klein, führ es noch einmal aus.
problem-ended-itself = Der Prozess endete (Status { $status }), bevor die Aufzeichnung vollständig war.
    .title = Das Programm hat seinen eigenen Prozess beendet
    .hint = Entferne, was den Prozess beendet (`os._exit`, `quit` aus einem Thread), und führ es noch einmal aus.
problem-memory-used-up = Das Programm hat seinen ganzen Speicher verbraucht; für den Rest der Aufzeichnung blieb nichts übrig.
    .title = Nicht genug Speicher
    .hint = Nimm kleinere oder weniger Tensoren; was davor zu sehen ist, stimmt.
problem-lost = Der Prozess, der Programme ausführt, musste neu gestartet werden. An deinem Programm liegt es nicht.
    .title = Der Server hat diesen Lauf verloren
    .hint = Führ es noch einmal aus.
problem-broken-off = gradwalk selbst ist gescheitert, während dieses Programm lief; darum endet die Aufzeichnung hier.
    .title = Der Fehler liegt bei gradwalk, nicht im Programm
    .hint = Bitte melde ihn zusammen mit dem Programm.

problem-server-mistake = Der Fehler liegt bei gradwalk, nicht in deinem Programm; er steht jetzt im Log des Servers.
    .title = Der Server hat einen Fehler gemacht
problem-no-jacobian = Mehr als das eine Produkt, das sein Durchlauf berechnet hat, gibt der Knoten nicht her: Er arbeitet in einer Transformation von torch.func wie vmap, auf Werten ohne eigene Zahlen.
    .title = Diese lokale Jacobi-Matrix gibt es nicht für sich allein
    .hint = Um sie zu sehen, berechne dasselbe ohne torch.func; `v` mal J ist so, wie es hier steht, richtig.
problem-value-lost = Dieser Wert kam nicht wieder vor: Das Programm tat etwas anderes als zuvor.
    .title = Der Wert ist verloren
problem-value-too-large = Ein Wert von { $count } Einträgen ist zu groß, um herausgegeben zu werden; bis zu { $most } sind es nicht.
    .title = Dieser Wert ist zu groß
problem-given-up = Er wurde { $count }-mal begonnen, und jedes Mal ging sein Worker verloren.
    .title = Dieser Lauf wurde aufgegeben
problem-upgraded = Seine Teile haben im Moment verschiedene Versionen. Führ das Programm noch einmal aus.
    .title = Dieser Server wird gerade aktualisiert
problem-file-not-kept = Der gemeinsame Speicher nimmt sie nicht an: { $error }.
    .title = Diese Datei lässt sich nicht übergeben
problem-file-lost = Sie wurde erzeugt, ist aber nicht mehr gespeichert. Fordere sie noch einmal an.
    .title = Die Datei ist nicht mehr da
problem-file-late = Nach { $seconds } Sekunden war sie noch nicht fertig.
    .title = Diese Datei dauert zu lange
problem-trace-gone = Die Aufzeichnung ist nicht mehr gespeichert. Führ das Programm noch einmal aus.
    .title = Nicht mehr da
problem-answered = Der Server hat mit { $status } geantwortet.
    .title = Der Server hat diese Anfrage abgelehnt
problem-unreadable = { $reason }.
    .title = Die Antwort war nicht lesbar
problem-no-trace = Es gibt noch keine Aufzeichnung zum Prüfen.
    .title = Nicht geprüft
problem-not-answered = Der Server ist nicht erreichbar oder brauchte zu lange, um das Programm noch einmal auszuführen.
    .title = Nicht geprüft
problem-nothing-to-draw = { $text }
    .title = Nichts zu zeichnen
problem-unavailable = { $text }
    .title = Hier nicht verfügbar

## Problems of the server and of requests

api-status = Der Server antwortete mit { $status } { $phrase }.
    .title = { $phrase }
api-too-long = Diese Anfrage ist länger, als der Server liest. Schick ein kürzeres Programm oder kleinere Eingaben.
    .title = Die Anfrage ist zu lang
api-invalid = { $faults }.
    .title = Die Anfrage stimmt so nicht
    .hint = Wie Anfragen aussehen, steht unter `/docs`.
api-fault = { $place }: { $reason }
api-no-json = Schreib nicht endliche Zahlen als "NaN", "Infinity" oder "-Infinity", und Text ohne einzelne Surrogate.
    .title = Das lässt sich nicht als JSON schreiben
api-busy = { $why } Versuch es in { $count ->
    [one] einer Sekunde
   *[other] { $count } Sekunden
} noch einmal.
    .title = Der Server ist ausgelastet
api-full = Dieser Server hat für mehr keinen Speicher übrig. Versuch es gleich noch einmal.
api-busy-queue = Viele Programme stehen in der Warteschlange.
api-busy-client-queue = Viele Programme von deiner Adresse stehen in der Warteschlange.
api-busy-no-workers = Die Worker, die Programme ausführen, sind noch nicht da.
api-busy-memory = Der gemeinsame Speicher des Servers antwortet nicht.
api-busy-client = Von deiner Adresse kamen zu viele Programme.
api-busy-cpu = Programme und Dateien deiner Adresse haben ihre Rechenzeit aufgebraucht.
api-busy-link = Links und Rahmen an deiner Adresse haben zu viele Programme ausgeführt.
api-busy-bytes = Von deiner Adresse kamen zu viele Bytes.
api-busy-room = Von deiner Adresse kam zu viel.
api-busy-guess = Von deiner Adresse kamen zu viele Codes, zu denen es keinen Raum gibt.
api-busy-participant = Von deiner Seite kam zu viel.
api-store = Aufzeichnungen können gerade weder gelesen noch aufgehoben werden. Wer diesen Server betreibt, findet den Grund im Log.
    .title = Der Speicher der Aufzeichnungen antwortet nicht
api-bug = Das ist ein Fehler von gradwalk, nicht von deinem Programm; er steht jetzt im Log des Servers.
    .title = Dem Server ist ein Fehler passiert
api-host = Er wurde als `{ $host }` angesprochen.
    .title = Auf diesen Namen antwortet der Server nicht
    .hint = Wer ihn betreibt, kann den Namen mit `GRADWALK_ALLOWED_HOSTS` erlauben.
api-other-site = Programme werden nur für die eigene Seite dieses Servers ausgeführt und für Anfragen außerhalb eines Browsers.
    .title = Diese Anfrage kam von einer fremden Seite
api-not-json = Schick ihn mit `Content-Type: application/json`.
    .title = Der Inhalt muss JSON sein
api-no-value = Dieser Trace hat keinen Wert mit dieser Nummer.
    .title = Kein solcher Wert
api-no-trace = Diese Aufzeichnung gibt es hier nicht. Schick ihr Programm noch einmal.
    .title = Keine solche Aufzeichnung
api-no-program = Unter diesem Link wurde hier nie ein Programm aufgehoben.
    .title = Kein solches Programm
api-not-the-owner = Nur wem dieser Server gehört, kann einen Link anheften.
    .title = Nicht der Eigentümer
    .hint = Schick das Token aus GRADWALK_OWNER_TOKEN als `Authorization: Bearer …`.
api-program-unreadable = Das Programm dieses Links stammt von einer anderen Version und ist nicht mehr lesbar.
    .title = Kein solches Programm
api-program-waits = Das Programm dieses Links ist noch nicht an der Reihe. Lade gleich neu.
    .title = Noch nicht
api-inputs = Diese Eingaben sind nicht lesbar.
    .title = Die Anfrage stimmt so nicht
api-no-export = Einen Export mit diesem Namen gibt es nicht. Es gibt: { $names }.
    .title = Kein solcher Export
api-oembed-format = Hier gibt es nur `format=json`.
    .title = Nur JSON
api-oembed-address = Das ist keine Adresse.
    .title = Keine solche Seite
api-oembed-page = Das ist keine Seite dieses Servers, die sich einbetten lässt.
    .title = Keine solche Seite
api-no-picture = Davon gibt es kein Bild. { $why }
    .title = Kein Bild
api-nothing-to-read = Es gibt nichts zu lesen. { $why }
    .title = Nichts zu lesen

api-room-none = Diesen Raum gibt es nicht, oder er wurde geschlossen.
    .title = Kein solcher Raum
api-room-steered = Steuern kann diesen Raum nur, wer ihn geöffnet hat.
    .title = Du steuerst diesen Raum nicht
api-room-not-asked = Diese Frage ist nicht mehr offen.
    .title = Diese Frage ist geschlossen
api-room-revealed = Die Antworten sind schon zu sehen.
    .title = Diese Frage ist geschlossen
api-room-answers-full = In diesem Raum ist kein Platz für eine weitere Antwort.
    .title = Kein Platz mehr
api-room-full = In diesem Raum sind alle Plätze belegt.
    .title = Kein Platz mehr
api-room-no-seat = Deine Seite ist mit diesem Raum nicht verbunden. Warte, bis sie es ist, und schick es noch einmal.
    .title = Nicht verbunden
api-rooms-client = Alle Räume, die deine Adresse öffnen darf, sind offen.
    .title = Kein Raum mehr
api-rooms-full = Auf diesem Server sind alle Räume belegt.
    .title = Kein Platz mehr
api-rooms-away = Der gemeinsame Server hinter den Räumen antwortet nicht. Versuch es gleich noch einmal.
    .title = Die Räume antworten nicht
api-rooms-elsewhere = Dieser Server wird heruntergefahren; der Raum bleibt. Versuch es gleich noch einmal.
    .title = Die Räume antworten nicht
api-other-answers = andere Antworten

api-title = Ein Rückwärtsdurchlauf
api-title-of = Der Rückwärtsdurchlauf von { $line }
api-preview = Der Rückwärtsdurchlauf Schritt für Schritt, jedes Vektor-Jacobi-Produkt mit seinen Zahlen.
api-preview-nothing = Dieses Programm hat keinen Rückwärtsdurchlauf.
api-preview-at = { $where }: { $sentence }
api-no-page = Unter dieser Adresse gibt es hier keine Seite. Vielleicht ist ein Link abgeschnitten oder vertippt.
    .title = Keine solche Seite
api-page-open = Schritt für Schritt ansehen
api-page-nothing = Es enthält keinen Rückwärtsdurchlauf.
api-page-home = gradwalk und seine Beispiele öffnen
api-page-pictures = Jeder Schritt als Bild und Satz
api-not-built = In einem Checkout baut `make run` die Seite und startet den Server; `make install` baut nur die Seite.
    .title = gradwalk läuft, aber seine Seite wurde noch nicht gebaut
api-description = Die API funktioniert: siehe ihre Beschreibung.

torch-untested = gradwalk ist mit PyTorch { $first } bis { $last } getestet. Das ist { $found }: Aufzeichnungen können abweichen oder scheitern.
extra-missing = `{ $name }` ist nicht installiert. Führ aus: `pip install "gradwalk[{ $extra }]"`
export-needs-page = Dafür muss das Frontend gebaut sein: Führ `make install` aus, oder installier ein veröffentlichtes Wheel.
export-late = Diese Aufzeichnung ist zu groß: V8 war nach { $count } Sekunden nicht fertig.
export-failed = Diese Aufzeichnung lässt sich nicht zeichnen ({ $reason }).
export-needs-ffmpeg = Videos brauchen ffmpeg: `pip install "gradwalk[video]"`, oder ein `ffmpeg` im PATH.
export-ffmpeg-failed = ffmpeg konnte dieses Video nicht schreiben: { $reason }
export-no-pass = Diese Aufzeichnung hat keinen Rückwärtsdurchlauf: Das Programm endete vorher oder hatte nichts abzuleiten.
export-no-backward-step = Diese Aufzeichnung hat keinen Rückwärtsschritt.
export-no-forward-step = Diese Aufzeichnung hat keinen Vorwärtsschritt.
export-no-such-step = Einen Schritt { $step } gibt es nicht: Dieser Gang hat { $count ->
    [one] einen Schritt
   *[other] { $count } Schritte
}.
export-too-many-pages = Diese Aufzeichnung bräuchte { $pages } Seiten, mehr als { $most }; eine je Schritt ist kürzer als eine je Phase.

export-json = Die ganze Aufzeichnung; öffnet überall ohne Server
export-dot = Der Graph eines Durchlaufs als Graphviz-Quelltext
export-svg = Ein Schritt als Vektorbild
export-png = Ein Schritt als Bild
export-pdf = Ein Schritt als Seite
export-html = Eine Seite mit dem Player darin; öffnet ohne Netz
export-kit = Die Aufzeichnung mit ihrem Layout, für `<grad-walk>`
export-pages = Ein PDF mit einer Seite je Schritt oder Phase
export-tex = Bilder und ein Frame für LaTeX Beamer
export-pptx = PowerPoint, eine Folie je Schritt oder Phase, die Sätze als Notizen
export-gif = Ein animiertes Bild
export-mp4 = Ein Video für Folien (H.264)
export-webm = Ein Video für Webseiten (VP9)

export-title = Der Rückwärtsdurchlauf, Schritt für Schritt
export-sentences = Zum Durchgehen braucht es JavaScript. Was jeder Schritt sagt:
export-frame = Ein Frame, { $count } Bilder: vor dem Durchlauf, dann jeder Schritt. In die Präambel:
export-before-pass = Vor dem Durchlauf
export-before-program = Vor dem Programm
export-step = Schritt { $number } von { $total }
export-operation = Operation { $number } von { $total }
export-place = { $where }, { $phase }
export-page-title = { $where }: { $name }
export-operands-more = { $count ->
    [one] und ein weiterer Operand
   *[other] und { $count } weitere Operanden
}
export-saved = gespeichert: { $what }
export-undefined = undefiniert
export-not-required = nicht benötigt
export-returned-none = None zurückgegeben
export-no-path = kein Weg
export-not-computed = nicht berechnet
export-norm = { $shape } Norm { $norm }

notebook-steps = { $count ->
    [0] Kein Rückwärtsschritt
    [one] Rückwärtsdurchlauf mit einem Schritt
   *[other] Rückwärtsdurchlauf mit { $count } Schritten
}
notebook-more = { $count ->
    [one] und ein weiterer Schritt
   *[other] und { $count } weitere Schritte
}
notebook-summarised = { $shape } hat { $count } Einträge, von denen nur eine Zusammenfassung aufgezeichnet wurde: mit `limits=dict(elements={ $count })` werden es alle.
notebook-no-such-name = es gibt kein `{ $name }`; es gibt { $known }
notebook-recording = Diese Aufzeichnung läuft noch: Lesbar ist sie, wenn der `with`-Block zu Ende ist.
notebook-recording-twice = gradwalk zeichnet in diesem Prozess schon auf: nur ein `record()` zur gleichen Zeit.
notebook-ending = `{ $file }`: Gespeichert wird als { $endings }.
notebook-no-module = `watch` nimmt das Modell, ein `torch.nn.Module`, nicht `{ $given }`.
notebook-no-tensors = `{ $function }` nimmt einen Tensor oder mehrere, nicht `{ $given }`. Den Text eines Programms zeigt `gradwalk.trace(text).show()`.
notebook-no-text = `trace` nimmt den Text eines Programms, nicht `{ $given }`. Was in Python läuft, zeichnet `with gradwalk.record() as trace:` auf.
notebook-no-trace = `{ $file }` enthält keine Aufzeichnung: Es ist kein JSON.
notebook-place = Ein Schritt sieht aus wie `7.3` (Schritt 7, Phase 3 von 5) oder `f7.3` (vorwärts), nicht wie `{ $text }`.

## What older versions wrote out

told = { $text }
problem-told = { $text }
    .title = { $title }
problem-told-hint = { $text }
    .title = { $title }
    .hint = { $hint }

## Why there is no gradient

missing-undefined = Die Engine hat einen undefinierten Tensor übergeben: Es gibt keinen Gradienten, das wirkt wie null.
    .title = undefiniert
missing-not-required = Dieser Operand braucht keinen Gradienten, also wurde keiner berechnet.
    .title = nicht verlangt
missing-returned-none = Das erste backward hat für diesen Operanden None zurückgegeben.
    .title = None
missing-no-path = In diesem Durchlauf kam hier nichts an.
    .title = kein Weg
missing-not-computed = Nicht berechnet: So weit ist der Durchlauf nicht gekommen.
    .title = offen
missing-hidden = Verdeckt, bis du dort ankommst.

missing-detach = `{ $name }` ist abgeschnitten: { $call } liefert einen Tensor ohne Vorgeschichte.
    .hint = Lass { $call } weg, wenn der Gradient `{ $name }` erreichen soll.
missing-data = `{ $name }` ist abgeschnitten: { $call } liefert einen Tensor ohne Vorgeschichte.
    .hint = Schreib `{ $name }` statt `{ $name }.data`, wenn der Gradient dort ankommen soll.
missing-numbers = `{ $name }` ist abgeschnitten: { $call } liefert bloße Zahlen ohne Vorgeschichte.
    .hint = Rechne mit dem Tensor selbst statt mit den Zahlen, die du aus ihm liest.
missing-numpy = `{ $name }` ist abgeschnitten: { $call } gibt die Werte an numpy, das keine Vorgeschichte kennt.
    .hint = Rechne in torch: `torch.mean` statt `np.mean`. `torch.tensor(…, requires_grad=True)` ist ein neues Blatt.
missing-no-grad = `{ $name }` ist abgeschnitten: Was unter { $call } berechnet wird, hat keine Vorgeschichte.
    .hint = Zieh diese Rechnung aus dem `no_grad`-Block heraus, wenn der Gradient durch sie hindurch soll.
missing-discrete = `{ $name }` ist abgeschnitten: { $call } liefert ganze Zahlen oder Wahrheitswerte, und die haben keine Ableitung.
    .hint = Rechne mit dem, woraus sie entstanden sind: zum Beispiel mit softmax statt argmax.
missing-rebuilt = `{ $name }` ist abgeschnitten: { $call } kopiert Werte in einen neuen Tensor ohne Vorgeschichte.
    .hint = Nimm den Tensor selbst oder füge Tensoren mit `torch.stack` oder `torch.cat` zusammen.
missing-inside = `{ $name }` wird in { $call } verwendet, das es nicht als Argument bekam: Es ist dort eine Konstante.
    .hint = Übergib es als eigenes Argument, und lass backward einen Gradienten dafür zurückgeben.
missing-cut = `{ $name }` ist abgeschnitten: { $call } liefert einen Tensor ohne Vorgeschichte.
    .hint = Nimm eine Operation von torch, die die Vorgeschichte behält.
missing-unused = Keine differenzierbare Operation verwendet `{ $name }`, also bleibt `.grad` dort None.
    .hint = Verwende `{ $name }` in dem, wovon backward ausgeht.
missing-not-in-output = `{ $name }` geht in { $call } ein, aber was daraus wird, geht nicht in die Ausgabe ein: `.grad` bleibt None.
    .hint = Addiere, was dort berechnet wurde, zu dem, wovon backward ausgeht.
missing-asked-late = Als { $call } `{ $name }` verwendete, verlangte es noch keinen Gradienten: `.grad` bleibt None.
    .hint = Rufe `{ $name }.requires_grad_()` auf, bevor es verwendet wird.
missing-made-without = `{ $name }` entstand ohne `requires_grad=True`, also berechnet die Engine dafür keinen Gradienten.
    .hint = Erzeuge es mit `requires_grad=True` oder ruf `{ $name }.requires_grad_()` auf, bevor es verwendet wird.
missing-frozen = `requires_grad` von `{ $name }` wurde ausgeschaltet, also berechnet die Engine dafür keinen Gradienten.
    .hint = Soll es lernen, ruf `{ $name }.requires_grad_(True)` auf, bevor es verwendet wird.
missing-frozen-in-line = `requires_grad` von `{ $name }` wurde in Zeile { $line } ausgeschaltet, also berechnet die Engine dafür keinen Gradienten.
    .hint = { missing-frozen.hint }
missing-integer = `{ $name }` enthält { $dtype }-Werte: Nur reelle und komplexe Zahlen können einen Gradienten haben.
    .hint = Nimm Gleitkommazahlen: `{ $name }.float().requires_grad_()`.
missing-reassigned = `{ $name }` wurde neu zugewiesen: Der Gradient ging an den Tensor, der vorher so hieß.
    .hint = Gib dem ersten Tensor einen eigenen Namen oder ändere ihn in-place unter `torch.no_grad()`.
missing-reassigned-in-line = `{ $name }` wurde in Zeile { $line } neu zugewiesen: Der Gradient ging an den Tensor, der vorher so hieß.
    .hint = { missing-reassigned.hint }
missing-non-leaf = `{ $name }` ist kein Blatt: { $call } hat es berechnet, also gibt die Engine den Gradienten weiter und behält nichts in `.grad`.
    .hint = Ruf vor backward `{ $name }.retain_grad()` auf, um ihn zu behalten, oder setz `requires_grad` erst am Ergebnis.
missing-non-leaf-of = { missing-non-leaf } { $count ->
    [one] Das Blatt aus Zeile { $lines } hat ihn.
   *[other] Die Blätter aus den Zeilen { $lines } haben ihn.
}
    .hint = { missing-non-leaf.hint }

missing-only-none = Der einzige Gradient für `{ $name }` war ein None, das ein eigenes backward zurückgab: `.grad` bleibt None.
missing-nothing-arrived = Bei `{ $name }` kamen nur undefinierte Gradienten an: `.grad` bleibt None, und das ist etwas anderes als Nullen.
missing-none-before = backward von { $op } gab None zurück, also kamen bei `{ $name }` nur undefinierte Gradienten an: `.grad` bleibt None, und das ist etwas anderes als Nullen.
missing-cleared-by-hook = In `{ $name }.grad` wurde ein Gradient aufaddiert; danach hat ein Hook es wieder auf None gesetzt.
missing-cleared = In `{ $name }.grad` wurde ein Gradient aufaddiert; noch im selben Durchlauf hat anderer Code es wieder auf None gesetzt.
missing-no-grad-yet = `.grad` war noch None.
missing-not-reached = Bis hierher kam der Durchlauf nicht.
missing-raised = Dieser Schritt brach mit einem Fehler ab, also wurde nichts weitergegeben.
missing-not-inputs = `inputs=` in diesem Aufruf nennt `{ $name }` nicht, also wird dort nichts aufaddiert.
missing-grad-returned = `{ $call }` gibt Gradienten zurück und lässt `{ $name }.grad`, wie es ist.
missing-around = Dieser Durchlauf läuft innerhalb von Durchlauf { $number }. Der führt zu `{ $name }`, ist aber noch nicht dort; dieser hier hat damit nichts zu tun.
missing-functional = Dieser Durchlauf gehört zu `torch.func`, das nur nach den Argumenten seiner Funktion ableitet: `{ $name }` ist dafür eine Konstante.
missing-pruned = Dieser Aufruf will nur die Gradienten seiner Eingaben, und über diese Kante führt kein Weg zu ihnen.
missing-result-undefined = Hier kamen nur undefinierte Gradienten an.
missing-result-no-path = Die Ausgaben hängen nicht von dieser Eingabe ab: Im Graphen führt kein Weg zu ihr.

missing-op-returned-none = backward von { $op } gab für `{ $name }` None zurück.
missing-hook-removed = { $op } gab einen Gradienten für `{ $name }` zurück; ein Hook am Knoten gab stattdessen None zurück.
missing-op-undefined = { $op } hatte keinen Gradienten zum Rechnen und gibt deshalb für `{ $name }` einen undefinierten Tensor zurück.
missing-unused-output = Nichts hat diesen Ausgang verwendet, oder es gab None zurück: Die Engine übergibt einen undefinierten Tensor, der wie null wirkt.
missing-materialized = Nichts hat diesen Ausgang verwendet, oder es gab None zurück: Die Engine übergibt einen undefinierten Tensor, und backward der Function bekommt stattdessen Nullen.
missing-number = `{ $name }` ist eine bloße Zahl, also geht dort kein Gradient hin.
missing-not-asked = `{ $name }` braucht hier keinen Gradienten, also geht dort keiner hin.
missing-operand-not-asked = Operand { $number } hat kein `requires_grad`, also geht kein Gradient dorthin.
missing-not-given = Kein `{ $name }` mit requires_grad wurde übergeben, also wird dafür kein Gradient berechnet.

nograd-result = Ergebnis für { $name }
nograd-others = Dasselbe gilt für { $names }.
nograd-others-more = Dasselbe gilt für { $names } und { $count } weitere.

## Findings and notes

note-input = Die Eingabe `{ $name }` wurde nicht verwendet: Das Programm hat keinen Platz für sie.
note-not-called = `{ $method }` in Zeile { $line } ist genannt, nicht aufgerufen: Es fehlen die Klammern, `{ $method }()`.
note-compared = Zeile { $line } vergleicht `{ $name }` und macht nichts mit der Antwort: Ein einzelnes `=` setzt den Wert.
note-misspelt = Zeile { $line } setzt `.{ $attribute }`, das PyTorch nicht kennt: Gemeint ist `.{ $meant }`.
note-class-state = `{ $function }.forward` legt in Zeile { $line } `{ $attribute }` ab: Jeder Aufruf überschreibt es, und nach zweien rechnet der Backward des ersten mit dem, was der zweite abgelegt hat. Leg es in `ctx` ab.
note-drawn-again = `{ $function }.backward` zieht neue Zufallszahlen (`{ $call }`, Zeile { $line }), und das sind nicht die, die forward gezogen hat. Zieh in forward und heb sie mit `ctx.save_for_backward` auf.
note-nothing-to-step = `step()` in Zeile { $line } ändert nichts: Kein Parameter dieses Optimizers hat einen Gradienten. Die Reihenfolge ist `zero_grad()`, `backward()`, `step()`, und der Optimizer muss die Parameter haben, von denen der Verlust abhängt.
note-v-kept = Das v der Seite wurde nicht verwendet: Es kann das des Programms nur in dessen erstem Rückwärtsaufruf ersetzen, wenn der bei einem Tensor aus mehreren Zahlen beginnt.
note-on-cpu = `{ $asked }` in Zeile { $line } lief auf der CPU: Hier gibt es kein anderes Gerät. Graph und Gradienten sind dieselben.
note-full-precision = `{ $asked }` in Zeile { $line } ist ausgeschaltet: Hier gibt es kein anderes Gerät, und alles wird in voller Genauigkeit gerechnet. Auf einer GPU liefen manche Operationen in halber Genauigkeit, mit eigenen Knoten für die Umwandlung.
note-no-workers = Der `DataLoader` in Zeile { $line } lädt in diesem Prozess: Hier gibt es keine { $workers } Worker. Die Batches sind dieselben.
note-quiet = `{ $library }` (Zeile { $line }) zeichnet und meldet hier nichts: Seine Aufrufe tun nichts.
note-reaches-inside = Dieses Programm greift in den Interpreter (`{ $what }`, Zeile { $line }): Zu sehen ist, was das Programm von sich sagt.
note-no-audit-hook = Der Audit-Hook in Zeile { $line } wird hier nicht aufgerufen: Auch was gradwalk beim Aufzeichnen tut, würde ihn erreichen.
note-compiled = `torch.compile` lief hier eager: Kompiliert wäre die ganze Funktion ein einziger undurchsichtiger Knoten. Operation für Operation ergeben sich dieselben Gradienten, bis auf Rundung.
note-compiled-in-line = `torch.compile` in Zeile { $line } lief eager: Kompiliert wäre die ganze Funktion ein einziger undurchsichtiger Knoten. Operation für Operation ergeben sich dieselben Gradienten, bis auf Rundung.

finding-value = Der erste Wert, der nicht endlich ist, entsteht in { $node }: Das Ergebnis hat { $entries }.
    .title = erstes NaN oder Unendlich
finding-value-why = Der erste Wert, der nicht endlich ist, entsteht in { $node }: Das Ergebnis hat { $entries }. { $why }
    .title = { finding-value.title }
finding-value-masked = { finding-value-why }
    .title = { finding-value.title }
    .hint = Maskiere `x` schon vor der Operation: `torch.where(mask, x, 1)`.
finding-masked = { $mask } lässt ihn weg, aber backward schickt dorthin 0, und 0 mal eine Steigung, die unendlich oder NaN ist, ist NaN.
finding-leaf = Das Blatt `{ $name }` hat { $entries }, noch bevor irgendetwas berechnet ist.
    .title = { finding-value.title }
finding-gradient = Der erste Gradient, der nicht endlich ist, entsteht in { $node }: grad_output ist endlich, der Gradient für `{ $name }` hat { $entries }. Die Ableitung ist dort nicht endlich; jeder daraus berechnete Gradient erbt das.
    .title = { finding-value.title }
finding-gradient-sqrt = { finding-gradient }
    .title = { finding-value.title }
    .hint = Addiere unter der Wurzel eine kleine Zahl: `(x + 1e-12).sqrt()`.
finding-gradient-too = Ein weiterer Gradient, der nicht endlich ist, entsteht in { $node }: grad_output ist endlich, der Gradient für `{ $name }` hat { $entries }. Die Ableitung ist dort nicht endlich; jeder daraus berechnete Gradient erbt das.
    .title = { finding-value.title }
finding-seed = Der externe Gradient `v`, mit dem { $node } beginnt, ist selbst nicht endlich.
    .title = { finding-value.title }
finding-hook = Ein Hook hat vor { $node } einen Gradienten eingesetzt, der nicht endlich ist.
    .title = { finding-value.title }
finding-sum = Die Beiträge bei { $node } sind endlich, ihre Summe ist es nicht: Sie ist für ihren dtype zu groß.
    .title = { finding-value.title }
finding-node = { $node } für { $operands }
finding-operand = `{ $name }` = { $value }
finding-nans = { $count ->
    [one] 1 NaN-Eintrag
   *[other] { $count } NaN-Einträge
}
finding-infinities = { $count ->
    [one] 1 unendlichen Eintrag
   *[other] { $count } unendliche Einträge
}
finding-div = Eine Division durch 0 ergibt unendlich.
finding-div-nan = 0 / 0 ist NaN, alles andere / 0 ist unendlich.
finding-sqrt = Die Wurzel einer negativen Zahl ist NaN.
finding-rsqrt = 1 / sqrt(x) ist bei 0 unendlich und darunter NaN.
finding-log = log(0) ist −∞, unter 0 ist der Logarithmus NaN: Addiere eine kleine Zahl oder nimm `log1p`.
finding-reciprocal = 1 / 0 ist unendlich.
finding-arc = Die Funktion ist nur von −1 bis 1 definiert.
finding-softmax = Für eine Zeile, in der überall −∞ steht, gibt es kein Softmax.
finding-pow = Eine negative Zahl hat keine reelle gebrochene Potenz, und 0 hat keine negative.
finding-overflow = { $node } überschreitet den Bereich von { $dtype }, die größte Zahl dort ist { $limit }: Die Operanden sind endlich, das Ergebnis ist unendlich.
    .title = Überlauf
    .hint = Nimm einen größeren dtype oder stell die Formel um: `logsumexp`, `log_softmax`, oder zieh zuerst das Maximum ab.

finding-faint = Der Gradient verschwindet: Bei `{ $name }` hat er nur noch die Norm { $norm }, um den Faktor { $times } kleiner als dort, wo er am größten ist.
finding-loud = Der Gradient explodiert: Bei `{ $name }` hat er die Norm { $norm }, um den Faktor { $times } größer als das `v` am Anfang.
finding-vanishing = { $reaches } Über { $count } Schritte ist das im Mittel ein Faktor von { $average } je Schritt; am stärksten wirkt { $node } mit { $strongest }. Entlang der Kette werden Ableitungen unter 1 multipliziert.
    .title = verschwindender Gradient
    .hint = ReLU, Residualverbindungen, Normalisierung oder eine bessere Initialisierung halten die Ableitungen nahe bei 1.
finding-vanishing-alone = { $reaches } Das macht { $node } ganz allein.
    .title = { finding-vanishing.title }
    .hint = { finding-vanishing.hint }
finding-vanishing-at = { $reaches } Fast alles davon geschieht in einem Schritt: { $node } gibt das { $change }-Fache dessen zurück, was ankam. Dort ist eine Ableitung fast 0, wie im Minimum eines Loss, oder die Summanden heben sich auf, wie vor einer Normalisierung: Das kann durchaus richtig sein.
    .title = { finding-vanishing.title }
finding-one-class = { $node } hat einen Gradienten erhalten und genau 0 zurückgegeben: Über eine Achse mit einem einzigen Eintrag ist das Ergebnis immer dasselbe, gleich was der Eintrag ist. Nichts davor erhält einen Gradienten dadurch.
    .title = { finding-vanishing.title }
    .hint = Gib jeder Klasse ihre eigene Bewertung; für eine einzige nimm `sigmoid` und als Verlust `F.binary_cross_entropy_with_logits`.
finding-saturated = { $node } bekam einen Gradienten der Norm { $norm } und gab genau 0 zurück: gesättigt, die Ableitung ist zu klein für den dtype. Nichts davor bekommt einen Gradienten.
    .title = { finding-vanishing.title }
    .hint = Halte den Operanden nahe bei 0: mit kleineren Gewichten oder normalisierten Eingaben.
finding-staircase = { $node } bekam einen Gradienten und gab genau 0 zurück: Es ist eine Treppe, flach zwischen ihren Sprüngen. Was davor liegt, bekommt auf diesem Weg keinen Gradienten.
    .title = { finding-vanishing.title }
    .hint = Lass es im Training weg, oder gib den Gradienten in einer eigenen Function weiter (Straight-Through).
finding-underflow = { $node } bekam einen Gradienten der Norm { $norm } und gab genau 0 zurück: Das Produkt ist zu klein für float16. Was davor liegt, bekommt auf diesem Weg keinen Gradienten.
    .title = { finding-vanishing.title }
    .hint = Skaliere den Loss (`torch.amp.GradScaler`) oder nimm bfloat16 oder float32.
finding-exploding = { $reaches } Über { $count } Schritte ist das im Mittel ein Faktor von { $average } je Schritt; am stärksten wirkt { $node } mit { $strongest }. Entlang der Kette werden Ableitungen über 1 multipliziert.
    .title = explodierender Gradient
    .hint = Kleinere Gewichte, Normalisierung oder Gradient Clipping halten ihn im Rahmen.
finding-exploding-alone = { $reaches } Das macht { $node } ganz allein.
    .title = { finding-exploding.title }
    .hint = { finding-exploding.hint }
finding-dead-relu = { $node } ist hier tot: Der ganze Operand der Form { $shape } ist 0 oder kleiner, also sind das Ergebnis und alle Ableitungen 0, und nichts davor bekommt auf diesem Weg einen Gradienten.
    .title = tote ReLU
    .hint = Eine kleinere Lernrate, eine andere Initialisierung oder `leaky_relu` hilft dagegen.
finding-dead-relu-more = { finding-dead-relu } { $count ->
    [one] Einer weiteren geht es genauso.
   *[other] { $count } weiteren geht es genauso.
}
    .title = { finding-dead-relu.title }
    .hint = { finding-dead-relu.hint }

finding-wrong-backward = { $backward } ist für `{ $name }` nicht die Ableitung von forward: { $why }
    .title = eigenes backward
finding-cut-derivative = { $op } speichert { $saved }: von forward aus den Eingaben berechnet, aber weder Eingabe noch Ausgabe. forward läuft ohne Grad-Modus, also ist `{ $name }` für { $use } eine Konstante: Dieser Gradient stimmt, aber leitest du ihn noch einmal ab, fehlt, wie sich `{ $name }` ändert, und PyTorch sagt nichts.
    .title = zweite Ableitung unvollständig
    .hint = Berechne `{ $name }` in backward neu aus gespeicherten Eingaben, oder gib es in forward mit zurück und speichere diese Ausgabe.
finding-written-gradient = `{ $backward }` schreibt in das grad_output, das es bekommt: { $change }. Andere Schritte können denselben Tensor bekommen und rechnen dann mit dem falschen Gradienten, ohne dass PyTorch etwas sagt.
    .title = backward schreibt in grad_output
    .hint = Berechne einen neuen Tensor: `grad_output * 2`, nicht `grad_output *= 2`. Einzelne Einträge schreibe in einen `.clone()`.
finding-behind-autograd = { $node } hat im Vorwärtsdurchlauf `{ $name }` gespeichert; wenn backward läuft, { $change }. Das geschah an autograd vorbei (etwa mit `.data` oder numpy), deshalb beschwert sich PyTorch nicht, und der Gradient gehört nicht zu dem forward, das lief.
    .title = an autograd vorbei geändert
    .hint = Schreib stattdessen einen neuen Tensor, oder ändere ihn, bevor er verwendet wird. Was `ctx.save_for_backward` aufhebt, wird daraufhin geprüft.
finding-changed = stehen dort andere Werte
finding-changed-in-line = stehen dort andere Werte, geschrieben in Zeile { $line }
finding-changed-from = steht dort { $now } statt { $was }
finding-changed-from-in-line = steht dort { $now } statt { $was }, geschrieben in Zeile { $line }
finding-no-zero-grad = In `{ $name }.grad` stand noch der Gradient von Durchlauf { $older }, als Durchlauf { $newer } dazuaddierte, obwohl `{ $name }` inzwischen aktualisiert wurde: Jedes Update nimmt dann die Summe aller bisherigen Gradienten.
    .title = Gradienten nicht zurückgesetzt
    .hint = Ruf vor backward `optimizer.zero_grad()` auf oder setz `.grad` auf None.
finding-no-zero-grad-more = { finding-no-zero-grad } { $count ->
    [one] Ebenso beim `.grad` eines weiteren Blatts.
   *[other] Ebenso beim `.grad` von { $count } weiteren Blättern.
}
    .title = { finding-no-zero-grad.title }
    .hint = { finding-no-zero-grad.hint }
finding-broadcast = { $node } bekam die Formen { $tall } und { $flat }: Broadcasting verknüpft jeden Eintrag des einen mit jedem Eintrag des anderen, das ergibt { $shape }.
    .title = Broadcasting zur Matrix
    .hint = Für eine Differenz je Eintrag gib beiden dieselbe Form, mit `squeeze(1)` oder `unsqueeze(1)`.
finding-rebuilt = `{ $call }` in Zeile { $line } macht einen neuen Tensor aus Zahlen, die `{ $numbers }` aus dem Graphen gelesen hat: Da geht kein Gradient hindurch.
    .title = durch Zahlen abgeschnitten
    .hint = { missing-rebuilt.hint }
finding-softmax-twice = { $node } wendet ein Softmax auf das an, was { $maker } gemacht hat, und das ist schon eins: Die Einträge liegen zwischen 0 und 1, die Klassen unterscheiden sich kaum, und an den Bewertungen kommt wenig Gradient an.
    .title = Softmax doppelt
    .hint = Gib dem Verlust die Bewertungen selbst: `F.cross_entropy` enthält das Softmax. Nach einem `log_softmax` nimm `F.nll_loss`.
finding-sigmoid-twice = { $node } wendet ein Sigmoid auf das an, was { $maker } gemacht hat, und das ist schon eins: Jede Wahrscheinlichkeit liegt dann zwischen 0,5 und 0,73, was auch gelernt wird.
    .title = Sigmoid doppelt
    .hint = Gib dem Verlust die Bewertungen selbst, oder nimm `F.binary_cross_entropy`, das Wahrscheinlichkeiten erwartet.
finding-no-logarithms = { $node } erwartet Logarithmen von Wahrscheinlichkeiten, die nie über 0 liegen, und bekam Zahlen bis { $top }: Der Verlust ist dann keine Likelihood und kann endlos fallen.
    .title = keine Log-Wahrscheinlichkeiten
    .hint = Gib ihm `F.log_softmax(scores, dim=1)`, oder gib die Bewertungen selbst an `F.cross_entropy`.
finding-outside-list = `{ $name }` bekommt einen Gradienten, gehört aber nicht zu `{ $module }.parameters()`: Schichten in einer einfachen Liste oder einem Dict wie `{ $attribute }` nimmt ein Modul nicht zur Kenntnis. Ein Optimizer, der die Parameter bekommt, ändert es nie.
    .title = kein Parameter
    .hint = Mach aus `{ $attribute }` eine `nn.ModuleList` oder ein `nn.ModuleDict`.
finding-outside-tensor = `{ $name }` bekommt einen Gradienten, gehört aber nicht zu `{ $module }.parameters()`: Es ist ein einfacher Tensor. Ein Optimizer, der die Parameter bekommt, ändert ihn nie.
    .title = { finding-outside-list.title }
    .hint = Schreib `self.{ $attribute } = nn.Parameter(…)`.
finding-module-flag = `{ $name }` bekommt trotzdem einen Gradienten: `requires_grad` des Moduls `{ $module }` ist ein Attribut wie jedes andere, und seine Parameter sehen nicht danach.
    .title = nicht eingefroren
    .hint = Schreib `{ $module }.requires_grad_(False)`, das setzt es für jeden Parameter.

note-out-of-sight = Kein Aufruf des Programms war zu sehen, der diesen Knoten baut: Code von `torch.jit` und alles, was ohne Torch-Functions läuft, bleibt unsichtbar. Deshalb hat er keine Zeile; seine Zahlen stammen trotzdem von der Engine.
note-thread = In einem anderen Thread entstanden: In welcher Zeile und aus welchen Werten, ist nicht bekannt.
note-unseen = Das Ergebnis blieb innerhalb eines Aufrufs von torch und kam nie heraus: Der Wert war nicht zu sehen.
note-not-kept = Nicht behalten: Weder eine deiner Variablen noch das, was PyTorch für backward gespeichert hat, enthält dieses Ergebnis noch.
    .title = nicht behalten
note-meta = Ein Meta-Tensor hat eine Form, aber keine Zahlen.
note-dense-too-large = Als dichter Tensor wäre er zu groß.
note-opaque-dtype = PyTorch kann einzelne Einträge dieses dtypes nicht lesen.
note-packed = von einem Hook für gespeicherte Tensoren gepackt, wie beim Checkpointing
note-freed = von einem früheren Rückwärtsdurchlauf freigegeben
note-saved-changed = seit dem Speichern in-place geändert
note-unreadable = nicht lesbar: { $text }

## Checks by finite differences

check-agrees = { $count ->
    [one] Der eine Eintrag stimmt
   *[other] Alle { $count } Einträge stimmen
} im Rahmen der Toleranzen mit den Differenzenquotienten überein.
check-differs = { $count } von { $total } Einträgen { $count ->
    [one] weicht
   *[other] weichen
} von den Differenzenquotienten ab, zuerst in Zeile { $row }, Spalte { $column }: { $analytic }, richtig wäre { $numeric }.
check-zeros = backward gibt nichts als Nullen zurück.
check-factor = Jeder Eintrag ist das { $factor }-Fache von dem, was er sein sollte.
check-diagonal = backward behält nur die Diagonale der Jacobi-Matrix, als käme jede Ausgabe von einer Eingabe; hier kommt jede von mehreren.
check-transposed = Es ist die Transponierte dessen, was es sein sollte.
check-unseen-use = Die Engine sieht nicht jede Verwendung: { $why }
check-kink = Nicht differenzierbar bei { $at } (Zeile { $row }, Spalte { $column }): Die Steigung ist links { $left } und rechts { $right }. Es gibt keine Ableitung zum Vergleichen; backward nimmt { $taken }.
check-no-slope = Nicht differenzierbar bei { $at } (Zeile { $row }, Spalte { $column }): Die Funktion endet dort, oder ihre Steigung hat keinen Grenzwert (links { $left }, rechts { $right }). backward nimmt { $taken }.
check-like-this = { $count ->
    [one] Bei einem weiteren Eintrag ist es genauso.
   *[other] Bei { $count } weiteren Einträgen ist es genauso.
}
check-flat = forward ändert sich bei kleinen Änderungen von `{ $name }` nicht: Die Ableitung ist hier 0. backward gibt etwas anderes zurück, wie es ein Straight-Through-Estimator mit Absicht tut.
check-stops = forward hängt von `{ $name }` ab, aber backward gibt dafür None oder Nullen zurück; der Gradient endet dort.
check-leaves-out = Ausgang { $number } von forward hängt von `{ $name }` ab, aber in dem, was backward für `{ $name }` zurückgibt, fehlt `{ $v }`, sein grad_output.
check-direction = entlang einer zufälligen Richtung ist `v` mal die Änderung von forward { $forward }, aber nach dem, was backward für `{ $name }` zurückgab, { $backward }.
check-not-linear = für einzelne Einträge von `v` gibt backward für `{ $name }` das Richtige zurück, für dieses `v` aber nicht: Es ist nicht linear in `v`, wie es jedes Vektor-Jacobi-Produkt ist.
check-not-scaled = für dieses `v` gibt backward für `{ $name }` das Richtige zurück, für { $scale } mal `v` aber nicht das { $scale }-Fache davon: Es ist nicht linear in `v`, wie es jedes Vektor-Jacobi-Produkt ist.
check-no-jacobian-product = backward wächst nicht mit `{ $v }`: Für { $scale } mal `{ $v }` gibt es nicht das { $scale }-Fache zurück. Also ist es kein Vektor-Jacobi-Produkt.
check-constant = backward gibt dasselbe zurück, was auch immer `{ $v }` ist, nicht `{ $v }` mal die lokale Jacobi-Matrix.
check-derivative-alone = backward gibt die lokale Ableitung allein zurück, was auch immer `{ $v }` ist. Multipliziere sie mit dem, was ankommt: `return { $v } * (…)`.
check-whole-jacobian = backward gibt die ganze Jacobi-Matrix der Form { $shape } zurück, gleich was `{ $v }` ist; die Engine addiert ihre Zeilen. Gib das Produkt `{ $v } @ J` zurück, einen Vektor.
check-arrived = Hier ist `{ $v }` = { $value }.
check-swapped = was backward für `{ $name }` zurückgibt, ist der Gradient von `{ $other }`, und umgekehrt: Gib sie in der Reihenfolge der Argumente von forward zurück.
check-identity = forward gibt `{ $name }` unverändert weiter, aber backward ändert `v`, wie es Gradient Clipping mit Absicht tut.
check-identity-times = forward gibt `{ $name }` unverändert weiter, aber backward multipliziert `v` mit { $factor }, wie es Gradient Reversal oder eine Skalierung mit Absicht tut.

check-large-jacobian = Diese Jacobi-Matrix hat { $entries } Einträge; bis zu { $most } werden einzeln verglichen.
check-no-jacobian = Die Jacobi-Matrix dieses Knotens lässt sich nicht für sich allein bestimmen, also gibt es nichts zu vergleichen.
check-no-call = Kein Aufruf im Programm hat { $op } gebaut: Der Knoten entstand in einem Rückwärtsdurchlauf (`create_graph=True`) oder war nicht zu sehen. Deshalb lässt sich sein forward nicht einzeln wiederholen.
check-no-operation = { $op } ist der Knoten, mit dem die Engine in eine View schreibt, oder fehlt in der Tabelle von torch: Es gibt keine einzelne Operation, die sich wiederholen ließe.
check-several-nodes = Der Aufruf baut mehrere Knoten auf einmal, und welche Operation zu diesem ({ $op }) gehört, lässt sich nicht sagen.
check-other-tensors = forward bekam andere Tensoren als die, die der Knoten kennt.
check-other-output = Einzeln wiederholt liefert diese Operation nicht die Ausgabe, die der Knoten hat.
check-other-numbers = In doppelter Genauigkeit liefert diese Operation etwas anderes: Ihre Zufallszahlen sind andere.
check-unclear = Welches Argument der Operation `{ $name }` ist, lässt sich nicht sagen.
check-not-given = `{ $name }` wurde der Operation nicht übergeben.
check-no-tensor = `{ $name }` ist in diesem Aufruf kein Tensor.
check-coarse = forward liefert { $dtype }, selbst wenn die Operanden float64 sind; für Differenzenquotienten ist das zu grob.
check-draws = forward zieht Zufallszahlen.
check-raised = In doppelter Genauigkeit wiederholt, bricht es mit { $error } ab: { $text }
check-edges = Dieser Durchlauf beginnt bei Kanten des Graphen statt bei Tensoren, also haben seine Ausgaben keine Werte.
check-vmap = Dieser Durchlauf läuft innerhalb von `vmap` oder `torch.func`; dort kommt man an seine Werte nicht heran.
check-pass-raises = Dieser Durchlauf bricht ab: { $text }
check-other-program = In doppelter Genauigkeit berechnet das Programm etwas anderes: Seine Zufallszahlen oder Entscheidungen hängen vom dtype ab.
check-other-outputs = Wird dieses Blatt ein wenig verschoben, kommt das Programm nicht zu denselben Ausgaben.
check-large-leaf = `{ $name }` hat { $entries } Einträge, und jeder braucht zwei Läufe des Programms; von { $most } sind noch { $left } übrig.

## Why a rule is what it is

why-add = Ändert man `{ $self }` ein wenig, ändert sich das Ergebnis um genauso viel: v geht unverändert durch.
why-add-broadcast = Eine kleine Änderung von `{ $self }` ändert jedes Ergebnis, für das es wiederholt wurde, um ebenso viel; deshalb werden deren v addiert.
case-broadcast = Bei einem Operanden, der durch Broadcasting wiederholt wurde, wird der Gradient über die Dimensionen der Wiederholung summiert.
why-sub-other = Je größer `{ $other }`, desto kleiner die Differenz: Das Vorzeichen dreht sich um.
why-rsub = `{ $self }` wird abgezogen: Wird es etwas größer, wird das Ergebnis um genauso viel kleiner.
why-rsub-other = Ändert man `{ $other }` ein wenig, ändert sich das Ergebnis um genauso viel.
case-rsub = So herum steht eine Zahl minus ein Tensor: Die Zahl hat keinen Gradienten.
why-mul = `{ $other }` skaliert `{ $self }`: Eine kleine Änderung von `{ $self }` ändert das Produkt um das `{ $other }`-Fache davon.
why-mul-other = `{ $self }` skaliert `{ $other }`: Eine kleine Änderung von `{ $other }` ändert das Produkt um das `{ $self }`-Fache davon.
case-same-operand = Wird ein Tensor mit sich selbst multipliziert, sind beide Operanden derselbe: Ihre beiden Beiträge addieren sich.
why-mul-same = Beide Faktoren sind `{ $self }`: Ändert sich nur einer davon ein wenig, ändert sich das Produkt um das `{ $self }`-Fache davon.
why-mul-number = Die Zahl skaliert `{ $self }`: Eine kleine Änderung von `{ $self }` wird im Produkt mit ihr multipliziert.
why-div = Eine kleine Änderung von `{ $self }` wird genauso geteilt wie `{ $self }` selbst.
why-div-other = Ein größerer Divisor macht den Quotienten kleiner, und zwar proportional zum Quotienten, der noch einmal geteilt wird.
case-div = Wo der Divisor 0 ist, sind die Gradienten unendlich oder NaN, wie der Quotient selbst.
why-div-rounded = Ein gerundeter Quotient ist eine Treppenfunktion, fast überall flach: Keine kleine Änderung kommt durch.
case-div-unrounded = Mit rounding_mode=None ist es eine gewöhnliche Division.
why-remainder = Zwischen zwei Sprüngen ändert sich der Rest genau wie `{ $self }`.
why-remainder-other = `{ $other }` wird so oft abgezogen, wie der gerundete Quotient angibt: So oft zählt jede kleine Änderung davon.
case-remainder = An den Sprüngen, wo `{ $self }` ein Vielfaches des Divisors ist, nimmt torch die Steigung neben dem Sprung.
case-fmod = fmod behält das Vorzeichen von `{ $self }`, remainder das des Divisors: hier trunc, dort floor.
why-neg = Das Ergebnis ändert sich so stark wie `{ $self }`, nur in die andere Richtung.
why-reciprocal = Die Steigung des Kehrwerts ist minus sein Quadrat. Das Ergebnis ist gespeichert, also wird es quadriert, statt noch einmal zu dividieren.
case-reciprocal = Wo `{ $self }` 0 ist, ist das Ergebnis unendlich oder NaN und der Gradient auch.
why-pow = Die Potenzregel: Der Exponent kommt als Faktor nach vorn und wird um eins kleiner.
case-pow = Mit Exponent 0 ist das Ergebnis konstant: Der Gradient ist 0, auch wo `{ $self }` 0 ist.
case-pow-root = Bei einem Exponenten zwischen 0 und 1 ist die Steigung an der Stelle 0 unendlich.
why-pow-exponent = Als Funktion des Exponenten ist eine Potenz eine Exponentialfunktion; ihre Rate ist der Logarithmus der Basis.
case-pow-base-0 = Wo die Basis 0 und der Exponent nicht negativ ist, ist der Gradient des Exponenten 0, nicht 0 mal minus unendlich.
case-pow-negative-base = Eine negative Basis mit reellem dtype hat keinen Logarithmus: Der Gradient des Exponenten ist dort NaN.
case-pow-constant-base-0 = Mit Basis 0 ist der Gradient für nicht negative Exponenten 0.
why-addcdiv-tensor2 = Ein größerer Divisor macht den addierten Quotienten kleiner: die Quotientenregel.
why-lerp = `{ $self }` hat in der Mischung den Anteil 1 - weight.
why-lerp-end = `{ $end }` hat in der Mischung den Anteil weight.
why-lerp-weight = Geht `{ $weight }` von 0 bis 1, wandert das Ergebnis den ganzen Weg von `{ $self }` bis `{ $end }`.
why-maximum = Nur der größere der beiden Werte bestimmt das Ergebnis, also bekommt nur er v; sind beide gleich, bekommt jeder die Hälfte.
case-maximum = Wo beide gleich sind, bekommt jeder die Hälfte von v; wo einer NaN ist, bekommen beide das ganze v.
why-minimum = Nur der kleinere der beiden Werte bestimmt das Ergebnis, also bekommt nur er v; sind beide gleich, bekommt jeder die Hälfte.
why-fmax = Nur der größere der beiden Werte bestimmt das Ergebnis.
case-fmax = NaN verliert: Der andere Operand bekommt das ganze v. Bei Gleichstand bekommt es der erste Operand.
why-fmin = Nur der kleinere der beiden Werte bestimmt das Ergebnis.
why-where = `{ $self }` wird kopiert, wo die Bedingung gilt, und sonst ignoriert.
why-where-other = `{ $other }` wird kopiert, wo die Bedingung nicht gilt, und sonst ignoriert.
case-where = Die Bedingung bekommt keinen Gradienten: Sie ist wahr oder falsch, dazwischen gibt es nichts.
case-where-nan = Ist die Steigung weiter hinten im nicht gewählten Zweig NaN oder unendlich, verdirbt sie den Gradienten trotzdem: 0 mal unendlich ist NaN.
why-hypot = Die Steigung der Länge in Richtung `{ $self }` ist der Kosinus des Winkels: `{ $self }` geteilt durch die Länge.
why-hypot-other = Die Steigung der Länge in Richtung `{ $other }` ist der Sinus des Winkels: `{ $other }` geteilt durch die Länge.
case-hypot = Wo beide 0 sind, ist der Gradient 0 / 0 = NaN.
why-copysign = Das Vorzeichen blieb (Steigung 1) oder wurde umgedreht (Steigung -1); was davon gilt, sagt das Ergebnis geteilt durch `{ $self }`.
why-copysign-other = Von `{ $other }` zählt nur das Vorzeichen, und das ändert sich bei einer kleinen Änderung nicht.
case-copysign = Wo `{ $self }` 0 ist, ist der Gradient 0.
why-sqrt = Das Quadrat der Wurzel ist `{ $self }`, also ist ihre Steigung eins durch zweimal die Wurzel; diese ist gespeichert und wird wiederverwendet.
case-sqrt = An der Stelle 0 ist die Steigung unendlich, für eine negative Zahl mit reellem dtype NaN.
why-rsqrt = Die Potenzregel für den Exponenten -1/2: Die Potenz mit -3/2 ist das Ergebnis hoch 3, und das Ergebnis ist gespeichert.
why-exp = Die Exponentialfunktion ist ihre eigene Steigung, also wird das gespeicherte Ergebnis wiederverwendet.
why-exp2 = Eine Potenz von 2 ist eine Exponentialfunktion mit der Rate log 2; diese kommt als Faktor nach vorn.
why-expm1 = Die Exponentialfunktion ist ihre eigene Steigung, und die ist das gespeicherte Ergebnis plus 1.
why-log = Der Logarithmus zählt Faktoren: Je größer `{ $self }`, desto kleiner der Faktor, den dieselbe Änderung ausmacht.
case-log = An der Stelle 0 ist die Steigung unendlich; für eine negative Zahl mit reellem dtype ist der Wert NaN, der Gradient aber endlich.
why-log2 = Der Logarithmus zur Basis 2 ist der natürliche Logarithmus geteilt durch log 2.
why-log10 = Der Logarithmus zur Basis 10 ist der natürliche Logarithmus geteilt durch log 10.
why-log1p = Die Steigung des Logarithmus: eins durch sein Argument, hier 1 + `{ $self }`.
why-logaddexp = Der Gradient wird im Verhältnis der beiden Exponentialwerte aufgeteilt: ein Softmax über zwei Werte.
why-logaddexp2 = Der Gradient wird im Verhältnis der beiden Zweierpotenzen aufgeteilt.
why-xlogy = `{ $self }` wird mit einem Logarithmus skaliert, und kleine Änderungen davon ebenso.
why-xlogy-other = Die Steigung des Logarithmus ist eins durch `{ $other }`.
case-xlogy = 0 mal ein unendlicher Logarithmus gilt als 0; mit dieser Regel ist xlogy ein Produkt mit einem Logarithmus.
why-sin = Die Steigung des Sinus ist der Kosinus: am steilsten bei 0, flach an den Extremstellen.
why-cos = Der Kosinus fällt, wo der Sinus positiv ist.
why-tan = Eins durch das Quadrat des Kosinus ist dasselbe wie 1 plus das Quadrat des Tangens, und der ist gespeichert.
why-asin = Die Umkehrfunktion des Sinus hat den Kehrwert der Steigung: eins durch den Kosinus des Ergebnisses, geschrieben mit `{ $self }`.
case-asin = Bei -1 und 1 ist die Steigung unendlich.
why-acos = Der Arkuskosinus ist ein rechter Winkel minus den Arkussinus, also hat er dessen Steigung mit umgekehrtem Vorzeichen.
why-atan = Die Umkehrfunktion des Tangens hat den Kehrwert der Steigung.
why-atan2 = Am schnellsten dreht sich der Winkel, wenn sich der Punkt quer zur Blickrichtung bewegt, und umso langsamer, je weiter draußen er liegt.
case-atan2 = Wo beide 0 sind, gibt es keinen Winkel; torch nimmt 0.
why-sinh = Die Steigung des Sinus hyperbolicus ist der Kosinus hyperbolicus.
why-cosh = Die Steigung des Kosinus hyperbolicus ist der Sinus hyperbolicus.
why-tanh = Die Steigung ist 1 minus das Quadrat des Ergebnisses: fast 0, wo dieses nahe bei -1 oder 1 liegt; dort verschwinden Gradienten.
case-tanh = Eine reelle Zahl weit weg von 0 ergibt als Gleitkommazahl genau -1 oder 1, und der Gradient ist genau 0.
why-asinh = Die Umkehrfunktion von sinh hat den Kehrwert der Steigung: eins durch cosh des Ergebnisses, geschrieben mit `{ $self }`.
why-acosh = Die Umkehrfunktion von cosh hat den Kehrwert der Steigung: eins durch sinh des Ergebnisses, geschrieben mit `{ $self }`.
case-acosh = Bei 1 ist die Steigung unendlich.
why-atanh = Die Umkehrfunktion von tanh hat den Kehrwert der Steigung.
why-abs = Entfernt man sich von 0, wird das Ergebnis größer; geht man auf 0 zu, wird es kleiner.
case-abs = Bei 0 ist ein Knick; torch nimmt 0.
why-sign = Eine Treppenfunktion ist zwischen ihren Sprüngen flach, eine kleine Änderung ändert nichts: Der Gradient ist überall 0.
case-sign = Auch an den Sprüngen, wo es gar keine Steigung gibt.
why-frac = Zwischen den Sprüngen ändert sich der Nachkommateil genau wie `{ $self }`.
why-erf = Die Fehlerfunktion ist die Fläche unter der Glockenkurve, also ist ihre Steigung die Glockenkurve.
why-erfc = Was von der Fläche unter der Glockenkurve übrig ist, schrumpft umso schneller, je höher die Kurve dort ist.
why-erfinv = Die Umkehrfunktion der Fehlerfunktion hat den Kehrwert der Steigung.
why-lgamma = Die Steigung des Logarithmus der Gammafunktion hat einen eigenen Namen: Digamma.
why-digamma = Die Steigung von Digamma ist die Trigammafunktion, Polygamma der Ordnung 1.
why-sinc = Die Quotientenregel für den Sinus eines Winkels durch diesen Winkel.
case-sinc = Bei 0 ist die Steigung 0, der Grenzwert des Quotienten.
why-logit = Die Umkehrfunktion der Sigmoidfunktion hat den Kehrwert der Steigung.
case-logit = Mit eps wird `{ $self }` zuerst begrenzt, und außerhalb ist der Gradient 0; ohne eps ist er außerhalb von [0, 1] NaN.
why-deg2rad = Ein Grad sind pi / 180 Radiant.
why-rad2deg = Ein Radiant sind 180 / pi Grad.
why-nan-to-num = Was ersetzt wurde, hängt nicht mehr von `{ $self }` ab; alles andere geht unverändert durch.
why-i0 = Die Steigung der modifizierten Besselfunktion der Ordnung 0 ist die der Ordnung 1.
why-relu = Wo `{ $self }` positiv ist, ist das Ergebnis `{ $self }` selbst und v geht durch; wo es negativ ist, bleibt das Ergebnis bei 0.
case-relu = Ein Neuron, das bei jeder Eingabe negativ ist, bekommt keinen Gradienten: ein totes relu.
why-threshold = Über der Schwelle ist das Ergebnis `{ $self }` selbst, darunter eine Konstante.
case-threshold = Genau an der Schwelle nimmt torch 0.
why-leaky-relu = Rechts Steigung 1; links eine eigene Steigung statt gar keiner, damit kein Neuron stirbt.
case-leaky-relu = Bei 0 nimmt torch die linke Steigung.
why-elu = Rechts eine Gerade, links eine Exponentialfunktion, die flach ausläuft.
case-elu = selu ist diese Operation mit festem alpha und scale.
case-elu-kink = Bei 0 gilt die linke Steigung.
why-celu = Links ist die Exponentialfunktion um alpha gestreckt, damit beide Seiten mit Steigung 1 zusammentreffen.
case-celu = torch teilt in einfacher Genauigkeit durch alpha, unabhängig vom dtype.
why-gelu = Die Produktregel: `{ $self }` mal eine Fläche unter der Glockenkurve (oder deren Näherung), deren Steigung die Glockenkurve ist.
why-silu = Die Produktregel: `{ $self }` mal seine eigene Sigmoidfunktion, deren Steigung Sigmoid mal 1 minus Sigmoid ist.
why-mish = Die Produktregel, darin die Steigungen von tanh und softplus.
why-sigmoid = Bei reellen Zahlen ist die Steigung höchstens 1/4 und fast 0, wo das Ergebnis nahe bei 0 oder 1 liegt: In einer tiefen Kette verschwinden Gradienten.
why-log-sigmoid = Von der Steigung des Logarithmus mal der von Sigmoid bleibt 1 minus Sigmoid, und das ist Sigmoid von minus `{ $self }`.
why-softplus = Ein relu mit runder Ecke; seine Steigung geht glatt von 0 nach 1, wie es Sigmoid tut.
case-softplus = Über der Schwelle nimmt torch die Gerade mit Steigung 1.
why-hardtanh = Im Bereich ändert sich das Ergebnis mit `{ $self }`, außerhalb bleibt es stehen.
case-hardtanh = Genau an einer Grenze nimmt torch hier 0 (clamp lässt v durch).
case-relu6 = relu6 ist diese Operation mit den Grenzen 0 und 6.
why-hardsigmoid = Eine gerade Rampe zwischen -3 und 3, außerhalb flach.
case-hardsigmoid = Genau bei -3 und 3 nimmt torch 0.
case-hardsigmoid-sixth = torch hält 1/6 hier in einfacher Genauigkeit, unabhängig vom dtype.
why-hardswish = Links 0, rechts `{ $self }` selbst, dazwischen eine Parabel.
why-softshrink = Kleine Werte bleiben bei 0; die anderen werden verschoben, und das lässt die Steigung bei 1.
why-hardshrink = Kleine Werte werden durch 0 ersetzt; die anderen sind `{ $self }` selbst.
why-rrelu = Die Steigung aus dem Vorwärtsdurchlauf gilt wieder: im Training zufällig gezogen, in der Auswertung die Mitte der Grenzen.
why-prelu = Rechts Steigung 1, links die gelernte Steigung `{ $weight }`.
why-prelu-weight = `{ $weight }` multipliziert `{ $self }`, wo das negativ ist, und tut sonst nichts.
why-glu = Die Produktregel: Das Gate skaliert die erste Hälfte, die zweite Hälfte bewegt das Gate.
why-softmax = Steigt ein Score, steigt sein eigener Anteil, und alle anderen sinken, denn die Anteile ergeben zusammen immer 1.
case-softmax = Ein v aus lauter Einsen ergibt 0: Die Summe der Anteile ist 1, egal, welche Werte `{ $self }` hat.
case-softmax-rows = Die Summe läuft nur über dim; entlang der anderen Dimensionen liegen unabhängige Zeilen.
why-log-softmax = Jedes Ergebnis ändert sich mit seinem eigenen Score (v), und alle werden um den gemeinsamen Logarithmus gesenkt, dessen Steigung der Softmax ist.
case-log-softmax = Wo v beim Ziel -1 und sonst 0 ist, wie bei der Kreuzentropie, ist das Softmax minus one-hot.
why-clamp-min = Wo `{ $self }` abgeschnitten wurde, ist die Grenze selbst das Ergebnis, also bekommt die Grenze v.
case-clamp = Genau an einer Grenze lässt torch v durch.
case-clamp-crossed = Liegt die untere Grenze über der oberen, ist das Ergebnis überall die obere.
why-conj = Was an der reellen Achse gespiegelt wurde, wird im Gradienten wieder zurückgespiegelt.
case-conj = Bei einem reellen Loss ist der Realteil von torchs Gradient die Steigung entlang der reellen Achse, der Imaginärteil die entlang der imaginären: zusammen die Richtung, in der der Loss am schnellsten wächst.
why-view-as-real = Das Paar reeller Gradienten wird wieder als eine komplexe Zahl gelesen.
why-view-as-complex = Die beiden reellen Zahlen bekommen die beiden Teile des komplexen Gradienten.
why-complex-real = Der Realteil bewegt sich nur entlang der reellen Achse.
why-complex-imag = Der Imaginärteil bewegt sich nur entlang der imaginären Achse.
why-fft = Die Matrix der Transformation ist symmetrisch, also wird v ebenso transformiert, nur die Frequenzen laufen andersherum: die inverse Transformation ohne deren eigenen Faktor.
case-rfft = Die weggelassene Hälfte des Spektrums bekommt kein v, dort stehen Nullen; die Zahlen sind reell, also zählt der Realteil.
case-irfft = Frequenzen zwischen der ersten und der mittleren stehen auch für ihr Spiegelbild und zählen doppelt.
why-polar-abs = Mehr Länge schiebt den Punkt nach außen, also zählt der Teil von v, der nach außen zeigt.
why-polar-angle = Mehr Winkel bewegt den Punkt im rechten Winkel zu seiner Richtung, und zwar so weit, wie er von 0 entfernt ist.
why-angle = Nur eine Bewegung im rechten Winkel zu `{ $self }` dreht es, und umso weniger, je weiter draußen es liegt.
case-angle = Bei reellen Zahlen ist der Winkel 0 oder pi: eine Treppenfunktion mit Gradient 0.
case-zero-at-0 = Bei 0 nimmt torch 0.
why-sgn = Nur der Teil von v im rechten Winkel zum Ergebnis zählt: Nach außen zu gehen ändert die Richtung nicht.
case-sgn = Bei reellen Zahlen ist das die Vorzeichenfunktion, eine Treppenfunktion mit Gradient 0.
why-sum = Jedes Element der Gruppe geht einmal mit Gewicht 1 in die Summe ein, also bekommt jedes das ganze v der Gruppe.
why-nansum = NaN-Werte bleiben bei der Summe außen vor.
why-mean = Jedes Element der Gruppe hat im Mittel dasselbe Gewicht: 1 durch ihre Anzahl.
why-var = Rückt ein Element vom Mittel weg, wächst die Streuung, mit dem doppelten Abstand als Steigung; dass sich auch das Mittel bewegt, hebt sich heraus.
case-var = Von der Anzahl wird correction abgezogen: 1, wenn nichts angegeben ist (nach Bessel).
why-std = Der Gradient der Varianz durch eine Quadratwurzel hindurch: geteilt durch zweimal die Wurzel.
case-std = Wo alle Elemente gleich sind, ist die Abweichung 0, und torch nimmt 0.
why-var-mean = Zwei Ergebnisse, zwei Gradienten: Beide erreichen `{ $self }` und addieren sich.
why-prod = Jeder Faktor wird mit allen anderen skaliert, wie bei einem Produkt aus zweien.
case-prod = Eine Null unter den Faktoren: Nur dieser Faktor hat einen Gradienten. Zwei Nullen: Alle ihre Gradienten sind 0.
why-cumsum = Ein Element steckt in seiner eigenen laufenden Summe und in allen späteren, also wird v vom Ende her summiert.
why-cumprod = Ein Element ist ein Faktor in seinem eigenen laufenden Produkt und in allen späteren: eine Zeile je Element, mit einer 1 an seiner Stelle.
case-cumprod = Nullen werden behandelt, ohne durch sie zu teilen.
why-logsumexp = Ein weiches Maximum: v wird im Verhältnis der Exponentialwerte aufgeteilt, und das ist der Softmax.
why-logcumsumexp = Ein Element hat seinen Softmax-Anteil an seinem eigenen laufenden Ergebnis und an allen späteren.
case-norm = Wo die Norm 0 ist, nimmt torch 0.
case-norm-infinite = Bei Ordnung inf teilen sich die Einträge v, die gemeinsam die betragsgrößten sind; bei -inf die gemeinsam betragskleinsten.
why-max = Nur das ausgewählte Element bestimmt das Ergebnis, also bekommt es das ganze v; eine kleine Änderung der anderen ändert nichts.
case-max = Bei Gleichstand bekommt nur das Element v, dessen Index zurückgegeben wurde.
case-indices-whole = Die Indizes bekommen keinen Gradienten: Sie sind ganze Zahlen.
why-max-shared = Nur die Elemente, die gleich dem Ergebnis sind, bestimmen es, und sie teilen sich sein v; eine kleine Änderung der anderen ändert nichts.
case-ties-shared = Bei Gleichstand teilen sich alle Elemente, die gleich dem Ergebnis sind, v zu gleichen Teilen.
case-amax = Wo max und min eines von mehreren auswählen, teilt diese Operation v unter ihnen auf.
why-aminmax = Zwei Ergebnisse, zwei Gradienten: Jeder geht an die Elemente, die sein Ergebnis bestimmt haben.
why-topk = Die Elemente, die es geschafft haben, bekommen ihr eigenes v zurück; die anderen hatten nichts zu sagen.
why-sort = Sortieren verschiebt die Elemente nur, also wandert v auf denselben Wegen zurück.
why-cummax = Wer zu einem Zeitpunkt den Rekord hält, bekommt das v dieses Zeitpunkts; ein lange gehaltener Rekord bekommt mehrere, und sie addieren sich.
case-mm = Wo die Größen verschieden sind, passen v und der andere Operand nur auf eine Art zusammen: Daran siehst du, was transponiert wird.
case-bmm = Jede Matrix des Batches ist ein Produkt für sich.
why-dot = Jeder Eintrag wird mit seinem Partner in `{ $tensor }` skaliert und aufaddiert.
why-dot-tensor = Jeder Eintrag wird mit seinem Partner in `{ $self }` skaliert und aufaddiert.
why-vdot = Jeder Eintrag wird mit seinem Partner in `{ $other }` skaliert; `{ $self }` geht konjugiert ein, also kommt v konjugiert zurück.
why-vdot-other = Jeder Eintrag wird mit seinem konjugierten Partner in `{ $self }` skaliert.
why-addmm = `{ $self }` wird addiert, gegebenenfalls mal seinen Faktor, und ändert das Ergebnis um genauso viel.
case-addmm = Das läuft in nn.Linear, wenn es einen Bias hat: Der wird zu jeder Zeile addiert, also ist sein Gradient die Summe der Zeilen von v.
why-addr-vec1 = Eintrag i von `{ $vec1 }` verteilt sich über Zeile i, gewichtet mit `{ $vec2 }`.
why-addr-vec2 = Eintrag j von `{ $vec2 }` verteilt sich über Spalte j, gewichtet mit `{ $vec1 }`.
why-addbmm-batch1 = Alle Produkte des Batches werden addiert, also bekommt jedes von ihnen dasselbe v.
why-einsum = Jedes Produkt zählt für den Eintrag des Ergebnisses mit seinen Buchstaben: `{ $operand }` bekommt v mal das, womit es multipliziert wurde, summiert über die Buchstaben, die es nicht hat.
why-einsum-alone = Jeder Eintrag von `{ $operand }` zählt für den Eintrag des Ergebnisses mit seinen Buchstaben, also bekommt er dessen v.
why-linear = Jede Ausgabe ist eine Summe über die Einträge von `{ $input }`, gewichtet mit einer Zeile von `{ $weight }`.
why-linear-weight = Jede Zeile des Batches hat dieselben Gewichte verwendet, also addieren sich ihre Beiträge.
why-linear-bias = Der Bias wurde zu jeder Zeile addiert, also bekommt er die Summe aller Zeilen.
why-linalg-inv-ex-a = Das Produkt von `{ $A }` und seiner Inversen bleibt 1, wie immer sich `{ $A }` ändert. Also ändert sich die Inverse um minus die kleine Änderung zwischen zwei Inversen: die Matrixform von minus eins durch das Quadrat, der Steigung des Kehrwerts.
why-linalg-det-a = Die Jacobi-Formel: Eintrag (i, j) wird mit seinem Kofaktor skaliert, und alle Kofaktoren zusammen sind die Determinante mal die Inverse, transponiert.
case-linalg-det = Bei einer singulären Matrix gibt es die Kofaktoren noch, die Inverse aber nicht; torch berechnet sie dann anders.
why-linalg-slogdet-a = Der Logarithmus der Determinante: ihr Gradient geteilt durch die Determinante selbst.
case-linalg-slogdet = Das Vorzeichen bei einer reellen Matrix ist eine Treppenfunktion und trägt nichts bei; bei einer komplexen kann es sich drehen.
why-linalg-cholesky-ex = Auch nach einer kleinen Änderung muss `{ $self }` das Produkt des Faktors mit seiner eigenen Transponierten sein. Löst man das nach einer dreieckigen Änderung des Faktors auf, zählt nur ein Dreieck, und das andere spiegelt es.
case-linalg-cholesky-ex = Der Gradient ist symmetrisch, als ließe sich `{ $self }` nur symmetrisch ändern.
why-linalg-solve-ex-a = `{ $B }` bleibt, wie es ist: Eine kleine Änderung von `{ $A }` wirkt über die Lösung `{ $result }`, und `{ $A }` macht sie wieder rückgängig.
why-linalg-solve-ex-b = Die Lösung ist linear in `{ $B }`; rückwärts wird mit der transponierten Matrix gelöst.
why-linalg-solve-triangular = Wie bei jedem linearen Gleichungssystem, aber nur das verwendete Dreieck kann etwas bewirken.
case-linalg-solve-triangular = Mit unitriangular=True gilt die Diagonale als 1 und bekommt keinen Gradienten.
why-linalg-eigh-a = Ein Eigenwert ändert sich um die kleine Änderung, von seinem eigenen Eigenvektor aus gesehen; ein Eigenvektor dreht sich zu den anderen hin, umso schneller, je näher ihre Eigenwerte beieinanderliegen.
case-linalg-eigh = Gleiche Eigenwerte machen den Anteil der Eigenvektoren unendlich: Diese sind nicht eindeutig bestimmt.
why-linalg-matrix-exp = Matrizen kommutieren nicht, also wäre v mal das Ergebnis falsch; die Blockmatrix sammelt v an jeder Stelle in jeder Potenz.
why-trace = Nur die Diagonale wird addiert, jeder Eintrag einmal.
why-tril = Was abgeschnitten wurde, hatte keine Wirkung; der Rest wurde kopiert.
why-linalg-cross = Im Produkt von v mit einem Kreuzprodukt darf man die Faktoren zyklisch vertauschen.
why-cdist-x1 = Schiebt man einen Punkt von einem anderen weg, wächst der Abstand am schnellsten entlang der Linie zwischen ihnen.
case-cdist = Wo zwei Punkte zusammenfallen, nimmt torch 0.
case-dist = Wo beide gleich sind, nimmt torch 0.
why-view = Die Zahlen sind dieselben, nur ihre Plätze sind andere, also kommt v an die alten Plätze zurück.
case-view-memory = Ein View teilt sich den Speicher mit seinem Operanden, eine Kopie nicht; für den Gradienten macht das keinen Unterschied.
why-expand = Eine Zahl, die mehrmals verwendet wurde, bekommt die Summe aller ihrer v.
case-expand = Broadcasting ist in jeder Operation ein expand, das niemand hingeschrieben hat.
why-select = Was herausgenommen wurde, bekommt sein v zurück; der Rest hatte keine Wirkung auf das Ergebnis, also bekommt er 0.
case-slice = Auch narrow ist ein Slice.
why-split = Jedes Element kam in genau einen Teil und bekommt das v dieses Teils.
case-split = Ein Teil, den niemand verwendet hat, hat kein v; er zählt als Nullen.
why-cat-tensors = Jeder Operand wurde in seinen eigenen Abschnitt des Ergebnisses kopiert und bekommt diesen Abschnitt von v.
why-stack-tensors = Jeder Operand ist eine Scheibe des Ergebnisses und bekommt diese Scheibe von v.
why-block-diag-tensors = Jeder Operand wurde in seinen eigenen Block kopiert; die Nullen daneben gehören niemandem.
why-unfold = Eine Zahl steht in jedem Fenster, das über ihr liegt, und bekommt die Summe ihrer v aus all diesen Fenstern.
why-fold = Jede Zahl eines Ausschnitts wurde zu einem Pixel addiert, also bekommt sie dessen v.
why-diag-embed = Die Nullen neben der Diagonale gehören niemandem, also fällt ihr v weg.
why-as-strided = Eine Speicherzelle, die mehrmals gelesen wird, bekommt die Summe aller ihrer v; eine, die nicht gelesen wird, bekommt 0.
case-as-strided = Die Formel hängt davon ab, wie `{ $self }` im Speicher liegt, und das speichert der Knoten nicht; darum steht hier keine.
why-clone = Eine Kopie ändert sich genau wie ihr Original.
case-clone = Bei einer Kopie in einen anderen dtype wird v in den dtype von `{ $self }` zurückgewandelt.
why-copy = Der alte Inhalt wurde überschrieben, also wirkt er nicht mehr.
why-copy-src = Der neue Inhalt ist eine Kopie von `{ $src }`.
case-copy = Hat die Quelle einen anderen dtype, bekommt sie v zurückgewandelt.
why-constant-pad-nd = Der Rand ist eine Konstante, `{ $self }` kann daran nichts ändern: Ein Padding mit negativen Werten schneidet ihn wieder ab.
case-constant-pad-nd = Wo die Operation selbst etwas abgeschnitten hat, bekommt das Abgeschnittene 0.
why-reflection-pad = Eine Zahl nahe dem Rand wurde nach außen gespiegelt; was bei ihren Kopien ankommt, wird zu ihrem eigenen v addiert.
why-replication-pad = Eine Zahl am Rand wurde nach außen kopiert; was bei ihren Kopien ankommt, wird zu ihrem eigenen v addiert.
why-index = Was gelesen wurde, bekommt sein v; was mehrmals gelesen wurde, bekommt alle seine v, aufaddiert; der Rest bekommt 0.
case-index = Ein Index, der zweimal vorkommt, addiert beide Gradienten: Nie zählt nur einer davon.
case-index-whole = Ein Index bekommt keinen Gradienten: Er lässt sich nicht ein wenig ändern.
case-index-mask = Auch eine boolesche Maske ist ein Index.
case-take = Die Plätze werden über alle Dimensionen durchgezählt, als wäre `{ $self }` flach.
why-embedding-weight = Eine nachgeschlagene Zeile bekommt das v jeder Stelle, an der sie verwendet wurde; alle anderen Zeilen bekommen 0.
case-embedding = Eine Zeile, die als padding_idx angegeben ist, bekommt nie einen Gradienten.
case-embedding-sparse = sparse=True ergibt denselben Gradienten, nur dünn besetzt gespeichert.
why-embedding-bag = Eine Zeile der Tabelle bekommt das v jedes Bündels, in dem sie war; im Mittel geteilt durch dessen Größe, im Maximum nur dort, wo sie am größten war.
why-embedding-bag-weights = Das Gewicht hat eine Zeile auf dem Weg ins Bündel multipliziert, also bekommt es die aufsummierten Produkte dieser Zeile mit dem v des Bündels.
why-masked-fill = Wo überschrieben wurde, wirkt der alte Inhalt nicht mehr: Dort bekommt er 0 und sonst v.
why-masked-fill-value = Der eine Wert wurde an jede maskierte Stelle geschrieben, also addieren sich deren v.
case-masked-fill = So funktioniert eine Attention-Maske: Was auf minus unendlich gesetzt wurde, bekommt keinen Gradienten.
why-masked-scatter-source = Was geschrieben wurde, wird in v an den Stellen abgelesen, an die es kam.
case-masked-scatter = Elemente von `{ $source }`, die nicht gebraucht wurden, bekommen 0.
case-scatter = Kommen mehrere Werte an eine Stelle, bleibt nur einer übrig, aber alle bekommen v: Der Gradient stimmt nur ohne Wiederholungen.
why-scatter-add = Etwas zu `{ $self }` zu addieren ändert nichts daran, wie `{ $self }` ins Ergebnis eingeht.
why-scatter-reduce = Was zu einem Ergebnis zusammengefasst wurde, teilt sich dessen v: in einer Summe jedes ganz, in einem Mittel zu gleichen Teilen, bei Maximum oder Minimum nur die Gewinner.
why-index-fill-value = Der eine Wert wurde an jede indizierte Stelle geschrieben, also addieren sich deren v; eine zweimal genannte Stelle zählt einmal.
why-index-put = Was überschrieben wurde, bekommt 0; was blieb oder wozu etwas addiert wurde, bekommt v.
case-index-put = Das ist `x[i] = y`. Mit accumulate=True werden die Werte addiert, und der alte Inhalt behält sein v.
why-fill-value = Der eine Wert wurde überallhin geschrieben, also wird das ganze v aufaddiert.
why-mse-loss = Die Steigung des Quadrats: Je weiter daneben, desto stärker zieht sie zurück.
why-mse-loss-target = Dasselbe umgekehrt: `{ $target }` näher an `{ $self }` zu bringen hilft genauso viel wie `{ $self }` näher an `{ $target }`.
why-smooth-l1-loss = Weit weg vom Ziel ist der Loss eine Gerade, also ziehen Ausreißer mit konstanter Kraft.
case-smooth-l1-loss = Mit beta über 0 ist der Loss nahe am Ziel eine Parabel; mit beta 0 ist er der einfache L1-Loss.
why-huber-loss = Wie beim Quadrat, aber der Zug ist begrenzt: Gradient Clipping, in den Loss eingebaut.
why-binary-cross-entropy = Der Fehler `{ $self }` - `{ $target }`, stark vergrößert, wo `{ $self }` nahe bei 0 oder 1 liegt: Dort ist der Logarithmus steil.
why-binary-cross-entropy-target = Das Ziel mischt die beiden Logarithmen.
case-binary-cross-entropy = Der Divisor ist mindestens 1e-12, auf einfache Genauigkeit (float32) gerundet, auch wenn der dtype double ist.
why-binary-cross-entropy-with-logits = Was Sigmoid flach macht, macht der Logarithmus um genauso viel wieder steil; nur der Fehler bleibt übrig.
why-binary-cross-entropy-with-logits-target = Das Ziel mischt die Kosten von Ja und von Nein.
why-nll-loss = Nur auf die Log-Wahrscheinlichkeit der richtigen Klasse kommt es an, und je größer sie ist, desto kleiner der Loss.
why-cross-entropy = Jeder Score bekommt seinen Anteil am Softmax, der der richtigen Klasse 1 weniger.
why-cross-entropy-smoothed = Jeder Score bekommt seinen Anteil am Softmax weniger das, was das Ziel von seiner Klasse verlangt.
why-cross-entropy-target = Was das Ziel von einer Klasse verlangt, kostet so viel wie der Logarithmus ihres Anteils.
case-nll-loss = `{ $target }` bekommt keinen Gradienten: Darin stehen Klassennummern.
case-nll-ignored = Stellen, deren Klassennummer ignore_index ist, bekommen 0 und zählen im Mittel nicht mit. Sind es alle, ist der Gradient 0, obwohl das Mittel 0 / 0 ist.
why-soft-margin-loss = Ein falsches Vorzeichen wird mit fast voller Kraft gezogen, ein klar richtiges kaum.
why-multi-margin-loss = Jede Klasse, die näher kommt als margin, wird nach unten gedrückt und die richtige Klasse um genauso viel nach oben.
why-native-layer-norm = Drei Wege führen hindurch: das Element selbst, das Mittel, das es bewegt, und die Streuung, die es bewegt. Die letzten beiden nehmen wieder heraus, was alle Elemente der Gruppe gemeinsam haben.
why-native-layer-norm-weight = `{ $weight }` multipliziert die normalisierte Eingabe und wird mehrfach verwendet, also addiert sich sein Gradient über alle Stellen der Verwendung.
why-native-layer-norm-bias = `{ $bias }` wird an jeder Stelle addiert, an der es verwendet wird, also bekommt es die Summe der v.
case-native-layer-norm = Mittel und Streuung gelten für jede Zeile einzeln, über die Dimensionen in normalized_shape.
case-layer-norm-shift = Ein v aus lauter Einsen ergibt 0, wo die Skalierung konstant ist: Verschiebt man eine Zeile, macht die Normalisierung das rückgängig.
case-rstd = rstd heißt bei torch 1 durch die Standardabweichung.
why-rms-norm = Zwei Wege führen hindurch: das Element selbst und die Länge der Zeile, die es ändert.
case-rms-norm = rrms ist 1 durch die Wurzel aus dem Mittel der Quadrate.
why-native-batch-norm = In der Auswertung sind die Statistiken Konstanten, und nur das Element selbst zählt. Im Training bewegt es auch Mittel und Streuung seines Kanals, und das nimmt wieder heraus, was der ganze Batch gemeinsam hat.
case-native-batch-norm = Im Training gelten Mittel und Streuung für den Batch, je Kanal: Der Gradient jedes Beispiels hängt von allen anderen ab.
case-native-group-norm = Mittel und Streuung gelten für jede Gruppe von Kanälen in jedem Beispiel.
case-group-norm-results = Auch sie sind Ergebnisse; verwendet ein Programm sie, werden ihre Gradienten addiert.
why-weight-norm-weight-v = Nur die Richtung von `{ $weight_v }` zählt, also wird der Teil des Gradienten entlang `{ $weight_v }` herausgenommen.
why-weight-norm-weight-g = `{ $weight_g }` ist die Länge des Ergebnisses in der Richtung von `{ $weight_v }`.
why-native-dropout = Dieselbe Maske wie im Vorwärtsdurchlauf: Was wegfiel, hatte keine Wirkung, was blieb, wurde hochskaliert.
case-native-dropout = Außerhalb des Trainings fällt nichts weg und v geht durch.
why-convolution = Jedes v geht an alle Eingaben zurück, aus denen es entstand, gewichtet mit dem Kerneleintrag, auf den sie dabei trafen; die Beiträge addieren sich.
why-convolution-weight = Ein Kerneleintrag wurde an jeder Stelle verwendet, also bekommt er die Summe über alle Stellen: v mal die Eingabe, auf die er dort traf.
why-convolution-bias = Der Bias eines Kanals wurde an jeder Stelle jedes Beispiels addiert.
case-convolution = Rückwärts durch eine Faltung ist eine transponierte Faltung, und umgekehrt.
case-convolution-groups = Mit groups ist jede Gruppe von Kanälen eine Faltung für sich.
why-max-pool2d = Nur das größte Element eines Fensters bestimmt dessen Ergebnis, also bekommt es das v des Fensters. Überlappende Fenster addieren sich.
case-max-pool2d = Bei Gleichstand bekommt nur das Element v, dessen Index behalten wurde.
why-avg-pool2d = Jedes Element eines Fensters hat in dessen Mittel dasselbe Gewicht, also bekommt jedes diesen Anteil am v des Fensters.
case-avg-pool2d = Überlappende Fenster addieren sich.
case-adaptive-avg-pool2d = Die Fenster sind so gleichmäßig, wie es die Größen erlauben; sie können sich überlappen.
why-upsample-nearest1d = Ein Pixel, das an mehrere Stellen kopiert wurde, bekommt die Summe ihrer v.
why-upsample-linear1d = Ein Pixel bekommt das v jeder Stelle, in die es eingemischt wurde, mal sein Gewicht in der Mischung.
why-scaled-dot-product-attention-value = Das Ergebnis mischt die Zeilen von `{ $value }`, also bekommt jede Zeile die v, in die sie eingemischt wurde, mit denselben Gewichten.
case-scaled-dot-product-attention = Maskierte Scores haben Gewicht 0 und bekommen keinen Gradienten.
case-attention-not-kept = Weder Gewichte noch Scores werden behalten: torch berechnet sie auf dem Rückweg neu, und die Prüfung auch.
why-second-slope = Das erste backward hat grad_output mit der Steigung multipliziert. Das ist linear in grad_output, also trifft v auf dieselbe Steigung.
why-second-bend = Die Steigung selbst hängt von diesem Operanden ab: v mal grad_output mal der Änderung der Steigung, der zweiten Ableitung.
why-second-straight = Die Steigung ist auf jeder Seite des Knicks überall gleich, ihre eigene Ableitung also 0.
why-second-taken = Das erste backward hat grad_output zwischen Nullen gesetzt. Von v zählt nur, was an diesen Stellen steht.
why-second-softmax = Was backward mit grad_output gemacht hat, ist linear darin: v trifft auf die Transponierte derselben Matrix.
why-second-mse-loss = Backward hat 2 (Vorhersage - Ziel) mal grad_output geschickt: eine Differenz, deren eigene Steigungen 2 und -2 sind.
why-lstm = Rückwärts durch die Zeit: Zu jedem Zeitpunkt wird addiert, was vom Ergebnis und was vom Zeitpunkt danach kommt.
why-lstm-weight0 = Zu jedem Zeitpunkt werden dieselben Gewichte verwendet, also addieren sich die Beiträge aller Zeitpunkte.
why-lstm-hx = Nur der erste Zeitpunkt sieht es direkt.
why-lstm-cx = Der Zellzustand wird weitergetragen, skaliert mit dem Forget-Gate: Nahe bei 1 lebt der Gradient lange, nahe bei 0 stirbt er.
why-product-rows = Zeile i von `{ $left }` trifft auf jede Spalte von `{ $right }` und ergibt Zeile i des Produkts. Also sammelt ihr Gradient Zeile i von v gegen alle Spalten von `{ $right }`.
why-product-columns = Spalte j von `{ $right }` trifft auf jede Zeile von `{ $left }` und ergibt Spalte j des Produkts. Also sammelt ihr Gradient Spalte j von v gegen alle Zeilen von `{ $left }`.
why-matrix-entry = Eintrag (i, j) von `{ $mat }` multipliziert Eintrag j von `{ $vec }`, und das geht in Eintrag i des Ergebnisses ein. Also bekommt er Eintrag i von v mal Eintrag j von `{ $vec }`.
why-matrix-columns = Eintrag j von `{ $vec }` erreicht jeden Eintrag des Ergebnisses über Spalte j von `{ $mat }`.
why-attention = Durch den Softmax: v erreicht die Gewichte über die Werte, was alle Gewichte einer Zeile gemeinsam haben, wird herausgenommen, und die Scores geben den Rest an `{ $operand }` weiter, wie bei jedem Matrixprodukt.
why-added = Ändert man `{ $other }` ein wenig, ändert sich das Ergebnis um genauso viel: v geht unverändert durch.
why-added-times = `{ $other }` wird vor dem Addieren mit { $factor } multipliziert, und eine kleine Änderung davon ebenso.
why-factor-added = `{ $first }` wird mit `{ $second }` multipliziert und dann addiert.
why-factor-added-times = `{ $first }` wird mit `{ $second }` und mit { $factor } multipliziert und dann addiert.
why-quotient-added = `{ $tensor1 }` wird durch `{ $tensor2 }` geteilt und dann addiert.
why-quotient-added-times = `{ $tensor1 }` wird durch `{ $tensor2 }` geteilt, mit { $factor } multipliziert und dann addiert.
why-norm = Die Länge wächst am schnellsten in der Richtung von `{ $self }` selbst, so wie die Norm Länge misst.
why-norm-of-order-0 = Die Anzahl der Einträge, die nicht 0 sind, ändert sich bei einer kleinen Änderung nicht.

## The page: code, inputs, v

page-language = Sprache
page-language-auto = Die der Lesenden
page-numbers-coming = Das Programm läuft noch einmal bis zu diesem Wert.
page-step-table = Schritttabelle
page-steps = Schritte
page-navigation = Seite
page-predict = Vorhersage
page-predict-title = Vor jeder Phase fragen, was sie ergibt
page-examples = Beispiele
page-room = Raum
page-view = Ansicht
page-share = Teilen
page-dismiss = Schließen
page-close = Schließen
page-done = Fertig
page-stop = Stopp
page-try-again = Noch einmal
page-panels = Bereiche
page-program-output = Programmausgabe
page-walk-title = Ein Rückwärtsdurchlauf, Schritt für Schritt

page-program = Programm
page-program-keys = Strg und Eingabe starten es, Escape verlässt den Editor.
page-run = Start
page-run-title = { $key } und Eingabe starten es
page-control-key = Strg
page-by-hand = Von Hand
page-by-hand-title = Schreib den Rückwärtsdurchlauf selbst; was du noch nicht gefunden hast, bleibt verborgen
page-came-with-link = Dieser Link brachte ein Programm mit. Lies es, dann führ es aus.
page-edited = Seit dem Lauf geändert: Das Bild gehört zum Programm davor.
page-stopped-early = Der letzte Lauf brach ab: Das Bild gehört zum Lauf davor.
page-problems = Probleme
page-operands-of = Was in { $op } einging
page-operand-shape = Operand { $number }: { $shape }
page-show-node = Im Graphen zeigen
page-add-call = { $call } anfügen und ausführen
page-go-to-line = Zu Zeile { $line }
page-warnings = Warnungen

page-link-program = Ein Programm aus einem Link
page-link-program-waits = Es ist noch nicht gelaufen. Lies es, dann drück „Start“.
page-no-pass = Hier gibt es keinen Rückwärtsdurchlauf
page-no-pass-hint = Berechne etwas aus einem Tensor, der einen Gradienten braucht, oder tipp einen Ausdruck wie `sin(x*y) + x` ein.
page-server-away = Der Server ist nicht erreichbar
page-server-away-hint = Läuft `gradwalk serve`?

page-run-status = Lauf
page-run-starting = Das Programm startet…
page-run-waiting = In der Warteschlange…
page-run-waiting-ahead = In der Warteschlange, { $count } davor…
page-run-running = Läuft; Schritte erscheinen nach und nach…
page-run-busy = Der Server ist ausgelastet. Neuer Versuch in { $count } s.
page-run-offline = Der Server ist nicht erreichbar. Neuer Versuch läuft; was du siehst, bleibt benutzbar.

page-v = Externer Gradient
page-v-title = Externer Gradient `v`
page-v-reset = v zurücksetzen
page-v-unreadable = Eine Zahl oder eine Liste von Zahlen, etwa [0.2, 0.8].
page-v-ones = Einsen
page-v-row = Zeile { $number }
page-v-row-label = One-Hot, Zeile { $number }
page-v-row-title = v greift Zeile { $number } der Jacobi-Matrix heraus
page-v-all-rows = alle Zeilen
page-v-all-rows-title = { $count } One-Hot-Vektoren v wandern zusammen als Stapel: [{ $count } × { $count }] hinein, die ganze Jacobi-Matrix heraus
page-v-random = zufällig
page-v-entry = Gewicht { $entry }
page-loss-meaning = v = ∂L/∂{ $output } für ein L, das du nicht hingeschrieben hast. Es sagt, wie wichtig jede Zahl von { $output } ist:
page-loss-rows = J = ∂{ $output }/∂{ $leaf }: Zeile i zählt v[i]-fach.
page-loss-sum = Summe der Zeilen: v J, gesendet an { $leaf }
page-v-given = { $count ->
    [one] Vom Programm gegeben; ein v von hier ersetzt es.
   *[other] Das Programm gibt es seinem ersten backward; ein v von hier ersetzt es dort.
}
page-v-replaced = { $count ->
    [one] Hier gesetzt, anstelle des v aus dem Programm.
   *[other] Hier gesetzt, für das erste backward, anstelle des v aus dem Programm.
}
page-v-kept-several = Dieses backward beginnt bei { $count } Tensoren mit je einem v; sie lassen sich dort ändern.
page-v-kept-stack = Sein v ist ein Stapel von vielen zugleich; es lässt sich dort ändern.
page-v-kept-later = Das erste backward gehört nicht zu den aufgezeichneten.
page-v-kept-graph = Dieses v hat selbst `requires_grad=True`; es lässt sich dort ändern.
page-v-kept-large = Dieses v ist zu groß, um es hier hinzuschreiben.
page-v-from-program = Das Programm startet { $count ->
    [one] den Rückwärtsdurchlauf
   *[other] seine { $count } Rückwärtsdurchläufe
} selbst, also kommt v von dort.
page-v-from-line = Das Programm startet { $count ->
    [one] den Rückwärtsdurchlauf
   *[other] seine { $count } Rückwärtsdurchläufe
} selbst in Zeile { $line }, also kommt v von dort.
page-v-from-first-line = Das Programm startet { $count ->
    [one] den Rückwärtsdurchlauf
   *[other] seine { $count } Rückwärtsdurchläufe
} selbst, zuerst in Zeile { $line }, also kommt v von dort.
page-v-from-lines = Das Programm startet { $count ->
    [one] den Rückwärtsdurchlauf
   *[other] seine { $count } Rückwärtsdurchläufe
} selbst in den Zeilen { $lines }, also kommt v von dort.

page-changes = Seit dem Lauf davor
page-changes-pass = Neben Durchlauf { $pass }
page-changes-forget = Vergessen
page-was = war { $value }, { $difference }

page-theme = Design
page-theme-auto = Wie das System
page-theme-light = Hell
page-theme-dark = Dunkel
page-theme-contrast = Hoher Kontrast
page-show = Zeigen
page-projector = Beamer-Modus
page-compare = Mit dem Lauf davor vergleichen
page-digits = Stellen
page-fewer-digits = Weniger Stellen
page-more-digits = Mehr Stellen
page-text-size = Schriftgröße
page-smaller-text = Kleinere Schrift
page-larger-text = Größere Schrift

page-example-unknown = Ein Beispiel { $name } gibt es nicht; hier ist ein anderes.
page-link-damaged = Dieser Link ist beschädigt. Nicht lesbar: { $parts }.
page-link-version = seine Version ({ $version })
page-link-code = das Programm
page-link-nudge = die angestupste Eingabe
page-link-theme = das Design
page-link-language = die Sprache
page-link-product-view = die Schreibweise der Produkte
page-link-digits = die Zahl der Stellen
page-link-text-size = die Schriftgröße
page-link-inputs = die Eingaben
page-link-v = der externe Gradient
page-link-seed = der Seed
page-link-pass = der Durchlauf
page-link-step = der Schritt
page-link-projector = der Beamer-Modus
page-link-predict = der Vorhersagemodus
page-link-compare = der Vergleich
page-link-by-hand = backward von Hand
page-link-unknown = Das Programm dieses Links ist nicht hier: Es wurde auf diesem Server nie aufgehoben, oder der Server ist nicht erreichbar.

page-examples-title = Was möchtest du sehen?
page-examples-coming = Die Beispiele werden geladen…
page-examples-failed = Die Beispiele ließen sich nicht laden: Der Server ist nicht erreichbar.

page-server-answered = Der Server antwortete mit { $status }.
page-server-unreachable = Der Server ist nicht erreichbar.
page-went-wrong = Etwas ist schiefgegangen.

page-protection = Schutz dieses Servers
page-protection-partial = Schutz: teilweise
page-protection-none = Schutz: keiner
page-protection-full = Alle Testzugriffe wurden abgewiesen.
page-protection-open = Programme laufen hier mit weniger Sperren, als sie sollten: Sie können { $can }. Führ nur Code aus, dem du vertraust.
page-protection-read = Dateien lesen
page-protection-list = Ordner auflisten
page-protection-stat = Dateien nachschlagen
page-protection-connect = ins Netz gehen
page-protection-fork = Prozesse starten
page-protection-thread = Threads starten
page-protection-signal = anderen Prozessen Signale senden
page-protection-memory = 4 GiB Speicher belegen
page-protection-raise = ihre eigenen Grenzen anheben
page-protection-exec = andere Programme starten
page-protection-loop = endlos laufen

page-by-hand-form = Backward von Hand
page-by-hand-waiting = Die Aufzeichnung kommt gerade an…
page-by-hand-task = Schreib jeden Gradienten mithilfe der Gradienten darüber. Sie stehen bereit, ebenso die Tensoren des Programms und `torch`; jede Zeile wird für sich geprüft.
page-by-hand-given = gegeben
page-by-hand-label = der Gradient von { $name }, { $shape }
page-by-hand-reveal = Zeigen
page-by-hand-reveal-label = { $name } zeigen
page-by-hand-asking = Differenzenquotienten werden berechnet…
page-by-hand-agree = Die Differenzenquotienten stimmen überein.
page-by-hand-disagree = Die Differenzenquotienten sagen etwas anderes.
page-by-hand-unknown = Differenzenquotienten können das nicht entscheiden: { $why }
page-by-hand-raised = { $title }: { $message }
page-by-hand-check = Prüfen
page-by-hand-checking = Wird geprüft…
page-by-hand-found-label = Gefunden
page-by-hand-found = { $found } von { $count } gefunden

## The page: lesson, rooms, sharing

page-of = { $number } von { $count }

page-note = Notiz
page-example-moved = So, wie das Beispiel aufgeht:
page-prediction = Vorhersage
page-feedback = Rückmeldung
page-commit = Abgeben
page-skip = Auslassen
page-skip-hint = { $hint } „Auslassen“ geht ohne Antwort weiter.
page-answer-sent = Gesendet. Die Antwort bleibt verborgen, bis die Lehrperson sie aufdeckt; bis dahin kannst du sie ändern.

page-answers = Antworten aus dem Hörsaal
page-answers-count = { $count ->
    [one] { $count } Antwort
   *[other] { $count } Antworten
}
page-line-broken = Verbindung unterbrochen; neuer Versuch…
page-following = { $away ->
    [0] { $count } dabei
   *[other] { $count } dabei, { $away } auf eigenen Wegen
}
page-invite = Einladen
page-answered = Geantwortet: { $count }
page-mask-answers = Antworten verdecken
page-show-answers = Antworten zeigen
page-on-your-own = Du gehst eigene Wege: Die Vorlesung läuft weiter, ohne dich mitzunehmen.
page-back-to-lecture = Zurück zur Vorlesung
page-you-follow = Du folgst der Vorlesung.
page-try-yourself = Selbst etwas probieren
page-what-i-tried = Mein Versuch
page-close-room = Raum schließen
page-leave-room = Verlassen
page-room-closed = Der Raum wurde geschlossen.
page-room-closed-by-lecturer = Die Lehrperson hat den Raum geschlossen.
page-room-no-program = Das Programm der Lehrperson ist gerade nicht auf diesem Server.

page-room-yours = Dein Raum ist offen
page-room-title = Ein Raum für eine Vorlesung
page-room-picture = QR-Code mit der Adresse dieses Raums
page-room-address = Alle öffnen diese Adresse:
page-room-second = Zweiten Bildschirm öffnen
page-room-second-about = Er zeigt deine Notizen, den nächsten Satz und die Antworten. Behalte seine Adresse für dich: Sie steuert diesen Raum.
page-room-privacy = Der Hörsaal sieht dein Programm, die Stelle, an der du bist, und deine Fragen. Ist der Raum geschlossen, bleibt nichts gespeichert.
page-room-present = Vortragen
page-room-present-about = Wer hereinkommt, folgt deinem Programm, deinen Schritten und deinen Fragen. Ohne Konto, nichts wird gespeichert.
page-room-open = Raum öffnen
page-room-follow = Folgen
page-room-code = Code
page-room-come-in = Eintreten
page-room-code-hint = Ein Code hat sechs Buchstaben, etwa BCDFGH.

page-screen-title = Zweiter Bildschirm · { $code } · gradwalk
page-screen-step = Schritt { $step } von { $count }
page-screen-now = Jetzt · { $step }
page-screen-next = Danach · { $step }
page-screen-notes = Notizen
page-screen-no-note = Kein `#@ note` in dieser Zeile.
page-screen-question = Frage
page-screen-question-hidden = Frage · Antworten vor dem Hörsaal verborgen

page-link-copied = Link kopiert
page-copy-link = Diesen Link kopieren
page-more-sharing = Einbetten, Folien, LMS…
page-copy = Kopieren
page-copied = Kopiert
page-copy-by-hand = Markier den Text und kopier ihn: Dieser Browser lässt es eine Seite nicht selbst tun.
page-run-first = Führ das Programm zuerst aus: Bis dahin gibt es nur den privaten Link.
page-not-kept = Nur der lange Link lässt sich jetzt teilen: { $why }
page-share-for = Für
page-opens-at = Öffnet bei Schritt
page-colours = Farben
page-colours-viewers = Wie auf dem jeweiligen Gerät
page-viewers-see = Sichtbar
page-part-title = Titel
page-part-link = Link zum ganzen Werkzeug
page-part-narration = Satz
page-part-transport = Player-Knöpfe
page-part-equation = Gleichung
page-part-zoom = Zoom-Knöpfe
page-viewers-keys = Pfeiltasten wirken darin
page-viewers-inputs = Eingaben sind änderbar
page-to-be-copied = Zum Kopieren
page-preview = Vorschau

page-snippet-link = Kurzer Link
page-snippet-link-about = Bleibt für immer auf diesem Server; Chatprogramme und Wikis zeigen seinen Schritt als Bild.
page-snippet-hash = Privater Link
page-snippet-hash-about = Enthält das Programm selbst; nichts davon erreicht den Server, bevor jemand den Link öffnet.
page-snippet-iframe = Webseite: iframe
page-snippet-iframe-about = Geht auf jeder Seite, auch wo keine Skripte erlaubt sind.
page-snippet-element = Webseite: Element
page-snippet-element-about = Ein Teil der Seite selbst; wo kein Skript läuft, ist das Bild zu sehen.
page-snippet-reveal = reveal.js
page-snippet-reveal-about = Jede Phase ist ein Fragment: Tasten, Sprecheransicht und Druckansicht der Präsentation gehen. Lade das Skript einmal je Präsentation.
page-snippet-reveal-frame = Folien ohne Plugin
page-snippet-reveal-frame-about = Ein iframe, das reveal.js an beiden Enden die Tasten zurückgibt.
page-snippet-quarto = Quarto
page-snippet-quarto-about = Rohes HTML in einer Seite oder einer reveal.js-Präsentation.
page-snippet-notion = Notion und andere Seiten, die Links einbetten
page-snippet-notion-about = Füg nur den Link ein: Die Seite holt sich den Rahmen selbst (oEmbed).
page-snippet-lti = Canvas, Moodle und andere LMS
page-snippet-lti-about = In der HTML-Ansicht des Editors; der Rahmen fordert die Höhe an, die er braucht (lti.frameResize), und setzt kein Cookie.
page-snippet-markdown = Markdown-Bild
page-snippet-markdown-about = Der Schritt als Bild, das zur Seite führt.

page-file = Als Datei
page-file-format = Format
page-file-pages = Eine Seite für
page-file-every-step = jeden Schritt
page-file-every-phase = jede Phase
page-file-make = Datei erstellen
page-file-stop = Nicht mehr warten
page-file-drawn = Gezeichnete Seiten
page-file-ahead = wartet, { $count } davor
page-file-working = in Arbeit…
page-file-download = Datei herunterladen
page-file-kinds-failed = Die Liste der Dateien ließ sich nicht laden: { $why }
page-file-broken = Die Verbindung brach ab, bevor die Datei fertig war.

## The player: stage, callout, panels

player-play = Abspielen
player-pause = Pause
player-keys = Tasten
player-keys-graph = Von einer Karte zu ihrem Operanden oder dorthin, wo ihr Ergebnis gebraucht wird
player-leave = Anhalten, den Graphen oder den Editor verlassen
player-key-space = Leertaste
player-key-page-down = Bild ↓
player-key-page-up = Bild ↑
player-key-home = Pos1
player-key-end = Ende
player-key-escape = Esc
player-key-shift = Umschalt
player-first-step = Erster Schritt
player-previous-step = Voriger Schritt
player-previous-phase = Vorige Phase
player-next-phase = Nächste Phase
player-next-step = Nächster Schritt
player-last-step = Letzter Schritt
player-name = Rückwärtsdurchlauf
player-transport = Player
player-narration = Erklärung
player-arriving = trifft ein…
player-no-steps = keine Schritte
player-step = Schritt
player-step-of = Schritt { $step } von { $total }
player-step-so-far = Schritt { $step } von { $total }…
player-phase = Phase
player-direction = Richtung
player-forward = Vorwärts
player-backward = Rückwärts
player-pass = Durchlauf
player-pass-of = Durchlauf { $pass } von { $total } · { $call }
player-pass-of-in-line = Durchlauf { $pass } von { $total } · { $call }, Zeile { $line }
player-curve = Rückwärtsdurchläufe
player-curve-pass = Durchlauf { $pass } von { $total }
player-curve-value = Ausgabe
player-curve-series = Was die Kurve zeigt
player-curve-after = nach { $calls }
player-curve-unrecorded = nicht aufgezeichnet
player-curve-offline = Durchlauf { $pass } ist nicht aufgezeichnet; dazu braucht es den Server, der nicht antwortet.
player-curve-no-server = Durchlauf { $pass } ist nicht aufgezeichnet; dazu braucht es den Server.
player-curve-recording = Das Programm läuft noch einmal bis zu Durchlauf { $pass }…
player-curve-failed = Durchlauf { $pass } ließ sich nicht aufzeichnen.
player-curve-non-finite = Erstes NaN oder Unendlich in einem Gradienten: Durchlauf { $pass }
player-curve-compare = Vergleichen
player-curve-compare-title = Die Zahlen dieses Durchlaufs neben die eines anderen stellen
player-curve-compared = Neben Durchlauf { $pass }
player-speed = Tempo
player-laying-out = Der Graph wird angeordnet…
player-layout-failed = Der Graph ließ sich nicht anordnen: { $reason }. Das ist ein Fehler in gradwalk, nicht in deinem Programm.
player-no-pass = Kein Rückwärtsdurchlauf vorhanden.

player-graph = Autograd-Graph
player-role-graph = Graph
player-divider = Grenze zwischen Graph und Gleichung
player-divider-program = Grenze zwischen Programm und Bild
player-turn = { $turn } von { $count }
player-queue-ready = bereit: { $names }
player-queue-waiting = wartet: { $names }
player-queue-counted = { $name } ({ $arrived } von { $expected } da)
player-queue-only = jetzt: { $name }, sonst war nichts bereit
player-queue-leaf = jetzt: { $name }, Blätter gehen vor
player-queue-last = jetzt: { $name }, von dem, was bereit war, zuletzt gebaut
player-queue-title = Von dem, was bereit ist, führt die Engine den zuletzt gebauten Knoten aus; das Aufaddieren an einem Blatt geht vor.
player-order = { $count ->
        [one] Die Engine führt einen Knoten aus, sobald alles da ist, worauf er wartet:
       *[other] Die Engine führt { $count } Knoten aus, jeden, sobald alles da ist, worauf er wartet:
    }
player-order-waits = wartet auf { $count }
player-order-more = und { $count } weitere
player-summands-more = { $count } weitere
player-summand-sizes = die Größe jedes Beitrags
player-map = Übersicht über den Graphen: aktiven Knoten zentrieren
player-tools = Werkzeuge für den Graphen
player-zoom-in = Vergrößern
player-zoom-out = Verkleinern
player-fit = Alles zeigen
player-fit-button = alles
player-find = Im Graphen suchen
player-find-button = suchen
player-find-title = Nach Name, Operation oder Zeile suchen (/)
player-heat = Heatmap
player-heat-button = Heatmap
player-heat-title = Wie groß der Gradient an jedem Knoten ist
player-heat-none = Noch ist nirgends ein Gradient angekommen.
player-heat-range = ‖v‖ von { $least } bis { $greatest }
player-heat-up-to = bis { $number }
player-open-all = alle öffnen
player-open-all-title = Alle Gruppen öffnen
player-close-all = alle schließen
player-close-all-title = Alle Gruppen schließen
player-search = Graph
player-search-what = Name, Operation oder Zeile
player-search-close = Suche schließen
player-search-results = Suchergebnisse
player-search-found = Gefunden
player-search-hint = Zum Beispiel relu, weight oder Zeile 4.
player-search-nothing = Nichts gefunden.
player-search-first = { $count } Knoten, hier die ersten { $shown }
player-nodes = { $count } { $count ->
    [one] Knoten
   *[other] Knoten
}
player-line = Zeile { $line }
player-no-line = keine Zeile
player-show-line = { $name }, Zeile { $line } zeigen
player-step-number = Schritt { $step }
player-go-to-step = Zu Schritt { $step }
player-go-to-step-at = Zu Schritt { $step }, { $name }
player-show-step = Schritt { $step } zeigen

player-node-step = { $node }, Schritt { $step } von { $total }
player-node-no-step = { $node }, noch kein Schritt
player-node-not-executed = { $node }, nicht ausgeführt
player-node-raised = { $node }, mit Fehler abgebrochen
player-value = Wert
player-leaf = Blatt
player-raised = Fehler
player-saved = gespeichert
player-some-arrived = { $arrived } von { $expected } angekommen
player-module = Modul { $name }
player-function = Funktion { $name }
player-composite = zusammengesetzt: { $name }
player-repeated = { $group }, { $count }-mal hintereinander
player-was = war { $value } ({ $change })
player-changed-by = um bis zu { $number } geändert

player-vjp = Vektor-Jacobi-Produkt
player-accumulation = Akkumulation
player-is-none = { $name } ist None.
player-without-gradient = Ohne Gradient
player-custom-function = eigene Function
player-its-backward = ihr backward steht in Zeile { $line }
player-built-in = gebaut in Durchlauf { $pass } (create_graph)
player-built-by-sum = gebaut von der Engine beim Summieren in Durchlauf { $pass } (create_graph)
player-built-by-step = gebaut in Schritt { $step } von Durchlauf { $pass } (create_graph)
player-external-gradient = der externe Gradient
player-grad-outputs = grad_outputs des Aufrufs
player-elsewhere = anderswo
player-from = von { $name }
player-arrived = angekommen
player-sum-before-hook = die Summe, vor dem Hook
player-v-sum = v, die Summe
player-output-sum = die Summe für Ausgang { $output }
player-grad-before = { $leaf }.grad vorher
player-grad-after = { $leaf }.grad nachher
player-equation = Gleichung
player-operand = Operand
player-output = Ausgang
player-output-number = Ausgang { $output }
player-what-to-show = Anzeige
player-derivative-alone = nur lokale Ableitung
player-times-v = mal v
player-how-to-write = Schreibweise
player-as-matrices = als Matrizen
player-by-element = elementweise
player-full-jacobian = ganzes J
player-jacobian = Lokale Jacobi-Matrix
player-v-times-j = v mal J
player-partial = ∂Ausgang/∂{ $name }
player-partial-outputs = ∂Ausgänge/∂{ $name }
player-entries-of = Einträge von { $jacobian }
player-jacobian-each-row = { $jacobian }, für jede Zeile gleich
player-jacobian-of-row = { $jacobian }, für Zeile { $row }
player-v-transposed = vᵀ
player-class-minus-shares = y − p mit p = { $shares }
player-acts-as-j = { $factor }, wirkt als J
player-returned-for = zurückgegeben für { $name }
player-refused-for = zurückgegeben für { $name }, abgelehnt
player-returned-rows = zurückgegeben für { $name }, eine Zeile je v
player-card-outputs = { $count } Ausgaben
player-outputs-vs = v von { $count } Ausgängen, nebeneinander
player-outputs-vs-rows = v von { $count } Ausgängen, nebeneinander, { $rows } Zeilen
player-row-vs = { $count } v, eines je Zeile
player-scalar = Skalar
player-backward-returned = , und das gab backward zurück
player-more-terms = { $count } { $count ->
    [one] weiterer Summand
   *[other] weitere Summanden
}
player-more-zeros = { $count } mal 0
player-entry-of = Eintrag { $entry } von { $total }
player-compute-jacobian = Diese Jacobi-Matrix berechnen
player-not-written-out = nicht ausgeschrieben
player-not-yet = wird noch ausgerechnet
player-rule-returns = zurückgegeben =
player-then = dann
player-unchecked = hier nicht geprüft
player-checked = mit der Engine abgeglichen
player-memory = volles J { $rows } × { $columns } ({ $full }); gespeichert { $kept }
player-saved-as = gespeichert: { $name }
player-saved-input = für backward gespeichert: eine Eingabe dieses Knotens
player-saved-output = für backward gespeichert: sein eigenes Ergebnis
player-saved-made = für backward gespeichert: in seinem forward entstanden
player-saved-alias = derselbe Speicher wie { $name }
player-saved-version = Version { $version }
player-inside-forward = In forward: { $count } { $count ->
    [one] Operation
   *[other] Operationen
}
player-more = mehr
player-to-know = Gut zu wissen
player-inside-backward = In backward: { $count } { $count ->
    [one] Operation
   *[other] Operationen
}
player-gives = ergibt
player-result = Ergebnis
player-not-observed = nicht beobachtet
player-not-observed-title = Dieser Wert wurde nicht beobachtet.

player-check = Differenzenquotienten
player-check-pass = Ganzen Durchlauf mit Differenzenquotienten prüfen
player-check-again = Erneut prüfen
player-checking = Das Programm läuft zum Vergleich noch einmal…
player-differences = Differenzenquotienten für { $name }
player-differences-pass = Differenzenquotienten für den ganzen Durchlauf
player-agrees = Stimmt mit den Differenzenquotienten überein
player-differs = Weicht von den Differenzenquotienten ab
player-not-differentiable = Hier nicht differenzierbar
player-incomparable = Nicht vergleichbar
player-verdict = { $verdict }.
player-verdict-grad = { $verdict }: { $leaf }.grad.
player-verdict-output = { $verdict }, Ausgang { $output }.
player-nothing-to-compare = Hier fließt kein Gradient, also gibt es nichts zu vergleichen.
player-used-jacobian = J, wie backward sie verwendet
player-found-jacobian = J aus Differenzenquotienten
player-used-grad = was dieser Durchlauf für { $leaf } ergab
player-found-grad = aus Differenzenquotienten
player-analytic-table = analytische Jacobi-Matrix
player-numeric-table = numerische Jacobi-Matrix
player-true-table = Jacobi-Matrix aus Differenzenquotienten
player-mark-wrong = weicht ab
player-mark-kink = nicht differenzierbar
player-wrong-entry = Zeile { $row }, Spalte { $column }: backward sagt { $analytic }, die Differenzenquotienten sagen { $numeric }.
player-kink = Zeile { $row }, Spalte { $column }, bei { $name } = { $at }: Die Steigung ist links { $left } und rechts { $right }; backward nimmt { $analytic }.
player-more-entries = { $count } weitere dieser Art.
player-tolerances = Zentrale Differenzen in doppelter Genauigkeit, Schrittweite { $step }. Ein Eintrag darf höchstens um { $absolute } + { $relative } × Betrag abweichen.

player-stands-out = Was auffällt
player-worth-knowing = Gut zu wissen
player-steps = Schritte
player-operation = Operation
player-line-head = Zeile
player-returned = zurückgegeben
player-all-numbers = Alle Zahlen
player-min = Min
player-max = Max
player-mean = Mittel
player-norm = Norm
player-zeros = Nullen
player-nans = NaN
player-infinite = unendlich

player-program = Programm
player-inputs = Eingaben
player-inputs-reset = Eingaben zurücksetzen
player-inputs-value = Wert von { $name }
player-inputs-fixed = { $shape }, im Programm festgelegt
player-inputs-missing = Die Regler konnten nicht geladen werden.
player-inputs-not-run = Mit diesen Eingaben ließ sich das Programm nicht ausführen: { $reason }.
player-nudge = Anstupsen
player-nudge-title = Das Programm mit einem veränderten Eintrag noch einmal ausführen und mit der Vorhersage des Gradienten vergleichen
player-nudge-close = Schließen
player-nudge-entry = Eintrag
player-nudge-by = Änderung
player-nudge-by-value = Änderung als Zahl
player-nudge-play = Änderung vorwärts laufen lassen
player-nudge-running = Läuft noch einmal…
player-nudge-failed = Das Programm ließ sich nicht noch einmal ausführen: { $reason }.
player-nudge-no-entry = Dieses Programm hat keine Eingabe namens { $name }. Wähle einen Eintrag.
player-nudge-structure = Mit { $name } = { $value } baut das Programm einen anderen Graphen, also lassen sich die Tensoren nicht einzeln vergleichen.
player-nudge-meaning = { $name } geht von { $was } auf { $is }. Wie { $output } darauf antwortet, sagt der Gradient in erster Ordnung.
player-nudge-real = Wirkliche Änderung von { $output }
player-nudge-predicted = Vorhergesagt
player-nudge-difference = Unterschied
player-nudge-sum = Summe von { $count } Produkten, Gradient mal Änderung
player-nudge-no-gradient = Bei { $name } kam kein Gradient an, also lässt sich damit nichts vorhersagen.
player-nudge-unmoved = Kein Tensor dieses Graphen hat sich geändert.
player-nudge-no-output = Dieser Durchlauf startet mit mehreren v zugleich, oder es sind zu viele Zahlen: Verglichen werden nur die Tensoren.
player-nudge-none = Kein Unterschied über das Runden hinaus: Entlang dieser Änderung ist { $output } eine Gerade.
player-nudge-second = Von zweiter Ordnung: Bei halber Änderung bleibt { $half }, also { $times }-mal weniger. Einer von erster Ordnung würde sich nur halbieren.
player-nudge-first = Nicht von zweiter Ordnung: Bei halber Änderung halbiert sich der Unterschied nur, auf { $half }. Dieser Gradient ist nicht die Steigung.
player-nudge-unsettled = Bei halber Änderung ist der Unterschied { $half }. Eine Gerade passt noch nicht: Versuch es mit einer kleineren Änderung.
player-nudge-unseen = Auch { $name } hat sich geändert, aber keine Kante führt dorthin: Der Gradient kann davon nichts wissen.
player-nudge-tensor = Tensor
player-nudge-change = Änderung
player-nudge-forward = J · Änderung
player-nudge-unknown = kein J
player-nudge-unknown-title = Eine lokale Jacobi-Matrix auf dem Weg fehlt in dieser Aufzeichnung
player-nudge-many = bis zu { $number }
player-nudge-unchanged = { $count ->
    [one] Ein weiterer Tensor ändert sich nicht.
   *[other] { $count } weitere Tensoren ändern sich nicht.
}
player-offer = Dieses Programm kam mit einem Link. Es wurde noch nicht ausgeführt; lies es zuerst.
player-run = Start
player-loading = Lädt…
player-open = In gradwalk öffnen
player-unreachable = Die Aufzeichnung lässt sich nicht zeigen: Sie ist von hier aus nicht erreichbar.
player-not-shown = Die Aufzeichnung lässt sich nicht zeigen: { $reason }.
player-still-running = das Programm läuft noch, lade die Seite gleich neu
player-server-answered = der Server antwortete auf die Anfrage nach der Aufzeichnung mit { $status }
player-not-run = Das Programm ließ sich hier nicht ausführen: { $reason }
player-damaged = Diese Adresse ist beschädigt. Nicht lesbar: { $names }.
player-damaged-value = Diese Adresse ist beschädigt: Ein Wert darin ist nicht lesbar.
player-damaged-program = Diese Adresse ist beschädigt: Das Programm darin ist nicht lesbar.
player-damaged-seed = Diese Adresse ist beschädigt: Der Seed darin ist nicht lesbar.
player-damaged-empty = Diese Adresse ist beschädigt: Sie enthält kein Programm.

## The chain: two tensors and everything between them

page-link-chain = die Kette
chain-button = Kette
chain-button-title = Die Kettenregel zwischen zwei Tensoren als ein Produkt: v · J₂ · J₁
chain-region = Kette
chain-of = Leite ab:
chain-by = nach
chain-made = Ergebnisse
chain-leaves = Blätter
chain-end-made = { $name } · { $operation }, Zeile { $line }
chain-end-unplaced = { $name } · { $operation }
chain-function = Eine Funktion oder ein Modul
chain-function-none = wählen …
chain-as-one = Als ein Glied:
chain-repeats = wiederholte Operationen
chain-no-path = Im Graphen führt kein Weg von `{ $by }` zu `{ $of }`: Auf diesem Weg kommt kein Gradient an.
chain-v = v, grad_output von { $name }
chain-running = nach { $symbol }
chain-result = v · { $partial }
chain-recorded = aufgezeichnet
chain-whole = als eine Matrix
chain-paths = { $count } Wege
chain-paths-title = Wege von { $by } zu { $of }. Jeder hat ein Produkt; die Produkte werden addiert.
chain-path = Weg { $number }
chain-sum = Die Summe über { $count } Wege
chain-sum-of-turn = Eines von { $turns }: die Summe über { $count } Wege
chain-left-out-links = { $count } Glieder
chain-more-paths = und { $count } weitere Wege
chain-compute =
    { $count ->
        [one] Die fehlende Jacobi-Matrix berechnen
       *[other] { $count } fehlende Jacobi-Matrizen berechnen
    }
chain-on-demand = bei der Aufzeichnung ausgelassen
chain-too-large = zu groß, um sie auszuschreiben
chain-not-run = hier kam in diesem Durchlauf kein Gradient durch
chain-not-yet = wird noch ausgerechnet
chain-no-matrix = keine Matrix reeller Zahlen
chain-no-v = In diesem Durchlauf kam bei `{ $name }` kein Gradient an: Es gibt kein v, nur Jacobi-Matrizen.
chain-all = Genau das hat der Durchlauf zu `{ $name }` gebracht.
chain-part = Genau das hat der Durchlauf entlang dieser Kette zu `{ $name }` gebracht; auf anderen Wegen kam mehr.
chain-mixed = Unterwegs kommen Gradienten von anderswo dazu; für diese Kette allein hat der Durchlauf keine Zahl aufgezeichnet.
chain-changed = Der Durchlauf hat zu `{ $name }` etwas anderes gebracht: Unterwegs hat ein Hook, eine Typumwandlung oder ein Broadcast den Gradienten geändert.
chain-differs = Der Durchlauf hat zu `{ $name }` etwas anderes gebracht. Das sollte nicht sein: Bitte melde es.
chain-by-record = Eine Jacobi-Matrix fehlt. An ihrer Stelle steht, was der Durchlauf aufgezeichnet hat.

## Questions and answers

ask-sum = { $name } wurde { $count ->
    [2] zweimal
   *[other] { $count }-mal
} verwendet, und es kommen { $values } an. Was ist { $asked }?
ask-product = Was ist v mal J für { $asked }?
ask-sign = Welches Vorzeichen hat der Gradient, der für { $asked } zurückgegeben wird?
ask-shape = v hat die Form { $shape }. Welche Form hat der Gradient, der für { $name } zurückgegeben wird?
ask-nodes = An welche Knoten schickt { $node } einen Gradienten?
ask-grad = { $grad } war { $before }, und { $arrived } kommt an. Was ist { $asked } danach?
ask-node = { $node } ({ $note })
ask-node-in-line = { $node } (Zeile { $line })
ask-node-noted-in-line = { $node } ({ $note }, Zeile { $line })
ask-none = keine
ask-positive = positiv
ask-negative = negativ
ask-zero = null

ask-right = Richtig: { $is }.
ask-right-shape = Richtig: { $is }, die Form der Eingabe.
ask-right-nodes = Richtig: an { $is }.
ask-wrong = Du sagst { $said }, richtig ist { $is }.
ask-wrong-because = Du sagst { $said }, richtig ist { $is }: { $because }.
ask-left-out = { $count ->
    [one] { $nodes } fehlt
   *[other] { $nodes } fehlen
}
ask-one-use = eine Verwendung
ask-only-one-use = Das hat { $sender } allein geschickt; Beiträge werden addiert, und die anderen fehlen
ask-sum-not-product = Beiträge werden addiert, nicht multipliziert
ask-sum-not-mean = Beiträge werden addiert, nicht gemittelt
ask-sum-own-signs = Beiträge werden mit ihrem eigenen Vorzeichen addiert; keiner wird abgezogen
ask-no-gradient = Für { $name } wurde kein Gradient zurückgegeben
ask-other-way = Dorthin ging der Wert im Vorwärtsdurchlauf; Gradienten gehen in die andere Richtung
ask-grad-replaced = backward ersetzt `.grad` nicht, sondern addiert zu dem, was schon da ist
ask-grad-kept = Was ankommt, wird zu `.grad` addiert; es bleibt nicht, wie es war
ask-grad-subtracted = Was ankommt, wird addiert, nicht abgezogen; der Abstieg ist Sache des Optimizers
ask-grad-mean = `.grad` ist eine Summe, kein Mittelwert
ask-forgot-sum = Du hast vergessen, die Beiträge zu addieren; v ist ihre Summe
ask-forgot-copies = Das ist ein Summand allein; was in mehrere Ausgaben eingeht, erhält von jeder einen, und sie werden addiert
ask-forgot-v = Du hast vergessen, mit v zu multiplizieren; das ist nur die lokale Ableitung
ask-forgot-v-row = Du hast vergessen, mit v zu multiplizieren; das ist eine Zeile der lokalen Jacobi-Matrix
ask-forgot-transpose-factor = Du hast vergessen, { $name } zu transponieren
ask-forgot-transpose = Du hast vergessen zu transponieren; das ist { $name } mal v, aber backward berechnet v mal { $name }
ask-row-for-column = Eine Spalte von { $name } wurde als Zeile genommen oder eine Zeile als Spalte
ask-forgot-factor = Du hast den Faktor { $factor } vergessen
ask-forgot-subtracted = Du hast vergessen, { $name } abzuziehen
ask-forward-value = Das ist v mal { $name }, ein Wert des Vorwärtsdurchlaufs, und nicht mal die Ableitung
ask-other-cell = Das ist ein anderer Eintrag von v; jeder geht an die Stelle zurück, von der er kam
ask-divided = Der Gradient wurde aufgeteilt; eine Summe gibt ihn jedem ihrer Summanden ganz weiter
ask-averaged = Der Gradient wurde aufgeteilt; was ausgewählt wurde, erhält ihn ganz, alles andere nichts
ask-wrong-sign = Das Vorzeichen stimmt nicht
ask-other-operand = Das ist der Gradient für den anderen Operanden, { $name }
ask-only-v = Das ist v allein, nicht mit der lokalen Ableitung multipliziert
ask-added = v und die lokale Ableitung werden multipliziert, nicht addiert
ask-sign-of-product = Das Vorzeichen des Produkts ist das von v mal das der lokalen Ableitung
ask-shape-of-v = Das ist die Form von v; ein Gradient hat die Form seiner Eingabe, Broadcasting oder Reduktion wird also rückgängig gemacht
ask-shape-transposed = Du hast vergessen zu transponieren; ein Gradient hat die Form seiner Eingabe
ask-shape-jacobian = Das ist die ganze Jacobi-Matrix; backward gibt v mal J zurück

ask-write-no-end = Der Durchlauf kam nicht bis zum Ende.
ask-write-no-pass = Hier gibt es keinen Rückwärtsdurchlauf zum Schreiben.
ask-write-nothing = Hier gibt es nichts zu schreiben.
ask-write-value = { $name } ist zu groß oder komplex, um es von Hand zu schreiben.
ask-write-many = Dieser Durchlauf hat { $count } Gradienten: zu viele, um sie von Hand zu schreiben.
ask-write-large = Die Tensoren dieses Durchlaufs sind zu groß, um sie von Hand zu schreiben.
ask-written-exact = Richtig: genau das, was die Engine berechnet hat.
ask-written-right = Richtig: bis auf Rundung das, was die Engine berechnet hat.
ask-written-wrong = { $name } ist nicht das, was die Engine berechnet hat.
ask-written-wrong-because = { $name } ist nicht das, was die Engine berechnet hat: { $because }.
ask-written-shape = Die Form ist { $said }, aber ein Gradient hat die Form seines Tensors, { $is }.
ask-written-shape-because = Die Form ist { $said }, aber ein Gradient hat die Form seines Tensors, { $is }: { $because }.
ask-written-transposed = Du hast vergessen zu transponieren
ask-written-broadcast = Was vorwärts durch Broadcasting vervielfacht wurde, wird rückwärts addiert
ask-written-reduced = Was vorwärts summiert oder ausgewählt wurde, wird rückwärts wieder verteilt
ask-written-factor = Jeder Eintrag ist um den Faktor { $factor } zu groß
ask-written-some = Hier kommen { $count } Beiträge an; alle werden addiert

## Examples

example-map = `backward` bekommt `v` = ∂L/∂y, eine Zahl je Ausgabe (hier 3), und gibt v mal J = ∂L/∂p zurück, eine Zahl je Eingabe (hier 2): Der Verlust L ist eine Zahl, die Matrix braucht niemand. J ist { $J }; v = { $v } mal J ist { $grad }: Eine einzelne 1 wählt eine Zeile aus. Ändere v und sieh zu.
    .title = Eine Abbildung von R² nach R³: v mal J
    .question = Mein f geht von R² nach R³. Seine Ableitung ist eine 3 × 2-Matrix, warum nimmt und liefert backward dann Vektoren?
example-rows-of-j = PyTorch speichert sie nirgends, aber jedes backward liefert eine Zeile von J: Ein One-Hot-v fragt, wie eine einzelne Ausgabe von allen Eingaben abhängt. Die drei Durchläufe geben { $first }, { $second } und { $third } aus.
    .title = One-Hot-v: J Zeile für Zeile
    .question = Wo ist die Jacobi-Matrix, die ich von Hand ausrechnen würde?
example-whole-jacobian = Ja, torch.autograd.grad kann es: Mit is_grads_batched=True nimmt es m Zeilen von v auf einmal. Die 3 × 3-Einheitsmatrix geht hinein, J = [[4, 0], [3, 2], [0, 6]] kommt heraus. backward nimmt ein einziges v.
    .title = `m` Zeilen von `v` auf einmal: ganz J
    .question = Ich hätte erwartet, dass backward einen Tensor A der Form [m, 3] nimmt und A mal J der Form [m, 2] liefert. Geht das?
example-ones-as-v = Drei Ausgaben sind keine einzelne Zahl, mit der man anfangen könnte: v sagt, wie viel jede zählt. Einsen geben den Gradienten der Summe, also geben beide Wege { $grad } aus. Bei einem Skalar ist v gleich 1 und kann fehlen.
    .title = `backward(ones)` ist der Gradient der Summe
    .question = Warum bekommt backward() einen Tensor als Argument, und warum sind es immer Einsen?
example-weights-as-v = `v` gewichtet die Ausgaben, bevor etwas zurückläuft: { $one } mal Zeile { $row_one } plus { $two } mal Zeile { $row_two } ist { $grad }, in einem einzigen backward.
    .title = [0.2, 0.8] als v: wie viel jeder Loss zählt
    .question = Was, wenn ich als externen Gradienten andere Zahlen als Einsen übergebe?
example-doubling-loop = Autograd zeichnet die zehn Verdopplungen auf, die gelaufen sind. Jede multipliziert v mit 2, und 2 hoch 10 ist 1024: Aus v = [0.1, 1, 0.0001] wird [102.4, 1024, 0.1024].
    .title = Die Verdopplungsschleife aus dem Autograd-Tutorial
    .question = `x*2` in einer while-Schleife, dann y.backward(v): Woher kommen 102.4, 1024 und 0.1024?
example-chain-of-two = `v = { $v }` trifft zuerst auf die Jacobi-Matrix von F2, das ist diag(2y): { $next }. Dieser Vektor ist das v für F1, dessen Jacobi-Matrix A ist: { $grad }. Zwei Jacobi-Matrizen werden nie miteinander multipliziert.
    .title = `F2(F1(x))`: Was herauskommt, ist das nächste v
    .question = Was wird bei z = F2(F1(x)) womit multipliziert, und in welcher Reihenfolge?
example-why-grad-output = `df/dw = x = { $x }` ist nur der lokale Teil. Der Loss ändert sich { $v }-mal so schnell wie f, also ist w.grad { $v } · { $x } = { $grad }: In grad_output steckt alles, was nach f kommt.
    .title = Warum mal grad_output?
    .question = Wenn backward die Formel für den Gradienten ist, df/dw = x, warum wird dann mit grad_output multipliziert?
example-exp-function = Die Jacobi-Matrix einer elementweisen Funktion ist diagonal, also ist v mal J ein elementweises Produkt mit e^x. Bei n Einträgen werden n Zahlen gespeichert; die Matrix mit n² Zahlen entsteht nie.
    .title = `exp` als eigene Function
    .question = Was berechnet backward eigentlich, wenn e^x seine eigene Ableitung ist?
example-wrong-shape = `backward` muss `v` mal `J` zurückgeben, in der Form der Eingabe. Die transponierte Jacobi-Matrix hat die Form [2, 3], p hat die Form [2]: Multipliziere mit v (`columns @ v`), dann fällt die 3 weg.
    .title = `backward` gibt eine Matrix zurück: ein Fehler
    .question = „Function returned an invalid gradient at index 0 - got [2, 3] but expected shape compatible with [2]“: Warum?
example-returned-jacobian = Nein. Eine [3, 3]-Matrix lässt sich zu [3] aufsummieren, und das tut die Engine wortlos: [1, e, e²], als wäre v lauter Einsen. Mit v = [1, 10, 100] müsste der letzte Eintrag 738.9 sein, nicht 7.39.
    .title = `backward` gibt `J` selbst zurück: kein Fehler, falsche Zahlen
    .question = Mein backward gibt die ganze Jacobi-Matrix zurück, und PyTorch beschwert sich nicht. Ist das in Ordnung?
example-batch = Die Zeilen mischen sich nicht: Jede der b Zeilen hat ein eigenes v und ein eigenes J, [3] und [3, 2], und bekommt ihr v J der Form [2]. Über die Ausgaben wird summiert, b × n bleibt. Der Mittelwert über den Batch zeigt sich als 1/3 in jedem v.
    .title = Ein Batch von Eingaben
    .question = Was, wenn ich einen Batch durch meine Funktion schicke? Ich würde einen Gradienten der Form b × k × n erwarten.
example-linear-function = Ein Gradient je Eingabe von forward, in derselben Reihenfolge: grad_input ist `grad_output @ weight`, grad_weight `grad_output.t() @ input`. needs_input_grad sagt, welche verlangt sind: input sind Daten, also geht None zurück, wie für einen Bias, den es nicht gibt.
    .title = LinearFunction, mit oder ohne Bias
    .question = Was tun grad_weight und needs_input_grad in der LinearFunction aus dem Tutorial „Extending PyTorch“, und warum gibt backward dort None zurück?
example-gradcheck = Ein falsches backward läuft ohne Beschwerde: Es sagt [2, 8], wo die Differenzenquotienten [3, 12] sagen. gradcheck vergleicht die beiden, in float64, und antwortet False.
    .title = `gradcheck` bei einem falschen backward
    .question = Wie teste ich eine Autograd-Formel, die ich selbst geschrieben habe?
example-composite = Eine zusammengesetzte Funktion besteht aus anderen Operationen und hat kein eigenes backward: Im Kasten von `cross_entropy` verfolgt Autograd log_softmax und nll_loss. Fast jeder Code ist so. Eine Function braucht man für NumPy, C++ oder einen anderen Gradienten, derivatives.yaml für die elementaren Operationen von PyTorch.
    .title = Zusammengesetzt und zum Aufklappen: `cross_entropy`
    .question = Was ist eine zusammengesetzte Funktion, und wo ist ihr backward?
example-none-zeros-undefined = In Summen sind alle null. c hat einen Weg, sein Gradient ist 0. `second` hat nichts verwendet, sein Gradient ist undefiniert: backward sieht None (Nullen ohne die Zeile mit set_materialize_grads) und gibt für b None zurück. d hat gar keinen Weg.
    .title = None, Nullen und undefiniert
    .question = Ein Tensor voller Nullen, None und ein undefinierter Tensor: Es heißt, das sei alles dasselbe. Was ist der Unterschied?
example-sin-expression = `x` wird zweimal verwendet, also ist sein Gradient die Summe zweier Beiträge: y · cos(x·y) auf dem einen Weg und 1 auf dem anderen. Die Steigung von sin ist cos; v mal cos geht weiter an x·y.
    .title = `sin(x*y) + x`, mit Schiebereglern
    .question = Kann ich einfach eine Formel eintippen und an ihren Eingaben drehen?
example-used-twice = Jede Operation, die lief, hat einen Knoten aufgezeichnet. Die Engine wartet, bis beide Verwendungen sich gemeldet haben, addiert { $b } und { $a } zu { $v } und geht erst dann zu a = x * y weiter: x.grad ist { $v } · { $y } = { $x_grad }, y.grad ist { $v } · { $x } = { $y_grad }.
    .title = Ein Wert, zweimal verwendet: Beiträge addieren sich
    .question = Was passiert, wenn ein Tensor in zwei Operationen eingeht?
example-x-times-x = Jeder Operand von x * x schickt über seine eigene Kante { $x } zurück; das Blatt addiert sie zu { $grad }. Die 2 ist eine Summe aus zwei Beiträgen.
    .title = `x * x` hat zwei Kanten
    .question = Woher kommt die 2 in der Ableitung von x²?
example-broadcast-bias = Ein Bias für alle Zeilen, das heißt: zweimal verwendet. Die zwei Zeilen von v ergeben addiert { $grad }.
    .title = Vorwärts Broadcasting, rückwärts Summe
    .question = Warum ist der Gradient eines Bias eine Summe über den Batch?
example-gradient-accumulation = `backward` addiert zu `.grad`: Nach zwei Hälften steht dort { $first } + { $second } = { $grad }, genau der Gradient des ganzen Batches.
    .title = `.grad` akkumuliert
    .question = Warum muss ich die Gradienten auf null setzen, und wie trainiere ich mit je einem halben Batch?
example-double-backward = Mit create_graph=True hinterlässt der erste Durchlauf selbst einen Graphen: Durch die Ableitung 3x² = { $slope } geht es noch einmal zurück, zu 6x = { $grad }.
    .title = Der Gradient eines Gradienten
    .question = Wie kann ich eine Ableitung noch einmal ableiten?
example-detach = (3x - target)² mit abgetrenntem target wird nur durch 3x abgeleitet: 2 · (6 - 4) · 3 = 12. Mit dem Weg durch x² wäre es 2 · 2 · (3 - 4) = -4.
    .title = `detach` unterbricht den Weg
    .question = Mein target wird aus x berechnet. Warum kommt da kein Gradient durch?
example-backward-twice = Wer durch einen Knoten zurückgeht, gibt frei, was er gespeichert hat. Der erste Durchlauf hinterlässt x.grad = { $grad }; der zweite findet das gespeicherte x nicht mehr. retain_graph=True behält es, dann wäre .grad am Ende doppelt so groß.
    .title = backward zum zweiten Mal
    .question = „Trying to backward through the graph a second time“: Was wurde freigegeben?
example-in-place = `exp` speichert sein Ergebnis mit Version 0; add_ setzt den Zähler auf 1. backward vergleicht die beiden und weigert sich, einen falschen Gradienten zu berechnen.
    .title = In-place-Änderungen und Versionszähler
    .question = „One of the variables needed for gradient computation has been modified by an in-place operation“: Welche, und wann?
example-vanishing = Jede Sigmoidfunktion multipliziert mit höchstens 1/4. Nach zehn davon sind von einem Gradienten von 1 noch { $grad } übrig.
    .title = Verschwindende Gradienten in einer tiefen Sigmoid-Kette
    .question = Warum lernen die ersten Schichten eines tiefen Sigmoid-Netzes nicht?
example-mlp-step = Aus einem v = 1 am Loss wird ein Gradient für jeden der 13 Parameter; ein kleiner Schritt in Gegenrichtung senkt den Loss von 1.59 auf 1.05.
    .title = Ein Trainingsschritt eines kleinen Netzes
    .question = Was passiert zwischen loss.backward() und optimizer.step()?
example-attention = Jedes Matrixprodukt schickt zwei Matrixprodukte zurück. Das Softmax dazwischen verschiebt Gewicht von Token zu Token: Jede Zeile, die es zurückgibt, hat die Summe null.
    .title = Attention, rückwärts
    .question = Wie kommen Gradienten durch `softmax(QKᵀ)V`?

## The command line

cli-torch-elsewhere = Nicht installiert und nicht nötig: Programme laufen in Workern.
cli-torch-missing = PyTorch ist nicht installiert. Führ aus: `pip install torch`
cli-torch = PyTorch { $found }.
cli-sandbox-elsewhere = Programme laufen in Workern; jeder prüft seine Sperren, bevor er anfängt.
cli-sandbox-broken = Programme lassen sich nicht ausführen: { $reason }. Siehe das Log oben.
cli-sandbox = Jeder Ausbruchsversuch wurde abgewiesen: voller Schutz.
cli-sandbox-open = { $protection } Nur dieser Rechner kann bedient werden; für andere nimm das Container-Image unter Linux mit seccomp.
cli-store-shared = Aufzeichnungen liegen dort, wohin GRADWALK_CLUSTER_URL zeigt.
cli-store-broken = In { $folder } lassen sich keine Aufzeichnungen ablegen: { $reason }. Schaff Platz, gib diesem Benutzer dort Schreibrechte oder nenne mit GRADWALK_DATA_DIRECTORY einen anderen Ordner.
cli-store-small = In { $folder } ist { $free } frei, die Grenzen erlauben { $wanted }. Senk GRADWALK_TRACE_BYTES_MAX oder schaff Platz.
cli-store = Aufzeichnungen liegen in { $folder }, { $free } frei.
cli-cluster-none = Nur dieser Rechner: GRADWALK_CLUSTER_URL ist nicht gesetzt.
cli-cluster-extra = GRADWALK_CLUSTER_URL ist gesetzt. Führ aus: `pip install 'gradwalk[cluster]'`
cli-cluster-silent = { $address } antwortet nicht ({ $reason }). Starte den Dienst oder korrigiere GRADWALK_CLUSTER_URL.
cli-cluster = { $address } antwortet.
cli-page-missing = In { $folder } liegt keine Seite. Führ aus: `make install`
cli-page-without-player = Einbettungen und Exporte als einzelne Datei gibt es nicht. { $why }
cli-page = Die Seite und der Player für andere Seiten sind gebaut.
cli-port-taken = Auf { $address } lässt sich nicht lauschen: { $reason }. Läuft gradwalk schon? Sonst wähl einen anderen Port mit `--port` oder GRADWALK_PORT.
cli-port = { $address } ist frei.
cli-memory-small = Vorhanden: { $have }, zugleich gebraucht werden bis zu { $wanted }. Senk GRADWALK_RUNNING_COUNT oder GRADWALK_RUN_MEMORY_BYTES, sonst bringen gierige Programme einander zu Fall.
cli-memory = Bis zu { $wanted } können zugleich gebraucht werden.
cli-pictures-missing = Es gibt keine Bilder. { $why }
cli-pictures = V8 zeichnet sie.
cli-videos-missing = MP4 und WebM brauchen ffmpeg. Führ aus: `pip install 'gradwalk[video]'`. Alles andere geht auch ohne.
cli-videos = ffmpeg ist da.

cli-drawing = Zeichne { $name }
cli-worker-alone = Ein Worker braucht GRADWALK_CLUSTER_URL, etwa redis://host:6379/0.
cli-worker-open = Nimmt keine fremden Programme an: Der Selbsttest meldet { $level }, offen: { $open }.
cli-worker-unmeasured = Nimmt keine fremden Programme an: Der Selbsttest gab keine Antwort.
cli-not-listening = Lauscht nicht auf { $host }: Der Selbsttest meldet { $level }, offen: { $open }. { $protection } Starte das Container-Image auf einem Linux-Kernel mit seccomp, oder lausche auf 127.0.0.1.
cli-root = Als root wird auf { $host } nicht gelauscht: Ein Loch im Server wäre eines in der Maschine. Gib ihm einen eigenen Benutzer, oder sag `--as-root`.
cli-open-to = Offen für alle, die { $host }, Port { $port }, erreichen: Programme ausführen, jeden aufbewahrten Trace unter seiner Adresse lesen, Räume.
cli-open-held = Programme anderer sperrt der Kernel ein; der Selbsttest sagt: vollständig.
cli-open-held-elsewhere = Programme anderer laufen allein in den Workern dieses Clusters.
cli-open-names = Gefragt unter den Namen { $names }; jeder andere wird mit 421 beantwortet, bis er in `GRADWALK_ALLOWED_HOSTS` steht.
cli-open-missing = Es fehlt: { $missing }.
cli-missing-encryption = Verschlüsselung, die ein Proxy davor gibt
cli-missing-proxy = ein Proxy in `GRADWALK_TRUSTED_PROXIES`, ohne den alle hinter einem ein einziger Client sind
cli-missing-user = ein eigener Benutzer
cli-no-fork = `gradwalk { $name }` führt Programme in Prozessen aus, die Linux und macOS starten können, dieses System aber nicht. In Python gehen hier `gradwalk.trace` und `gradwalk.record`, und auch `python -m gradwalk script.py`.
cli-no-script = Es gibt kein Skript { $file }.
cli-recorded = gradwalk: { $count ->
        [one] ein Rückwärtsdurchlauf
       *[other] { $count } Rückwärtsdurchläufe
    } aufgezeichnet, in { $file }
cli-not-saved = { $file } ist keine gespeicherte Aufzeichnung: { $reason }
cli-not-text = { $file } ist kein UTF-8-Text: { $reason }
cli-not-named = `{ $text }` hat nicht die Form `name=value`.
cli-not-json = `{ $text }` ist kein JSON (eine Zahl oder verschachtelte Listen von Zahlen).
cli-init-exists = { $file } gibt es schon; geschrieben wurde nichts.
cli-init-next = Weiter: `{ $command }`
cli-deck = Nichts auf diesen Seiten braucht ein Netz.
cli-deck-elsewhere = { $address } liegt auf einem anderen Rechner.
cli-deck-missing = { $address } fehlt.
cli-deck-fetched = { $address } kann eine Seite, die aus einem Ordner geöffnet wird, nicht laden. Setze es in die Seite ein, oder liefere den Ordner über einen Server aus.
