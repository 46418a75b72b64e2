sin(x*y) + x
